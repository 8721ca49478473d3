//! The style sheet of the page.

use super::super::base::svg::{DARK_RULES, RULES};

const LIGHT: &str = ":root{--paper:#fff;--ink:#1a1a1a;--muted:#5a5f66;--line:#d5d9de;--shade:#f4f6f8;--accent:#0072b2}";
const DARK: &str = ":root{--paper:#16191c;--ink:#e8e8e8;--muted:#b0b4b8;--line:#3a3f44;--shade:#20252a;--accent:#56b4e9}";

const PAGE: &str = "
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
main{max-width:1120px;margin:0 auto;padding:1.5rem 1.25rem 3rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .3rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.2rem 0 .6rem;padding-bottom:.2rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.2rem 0 .4rem;overflow-wrap:anywhere}
p,li,dd,figcaption{overflow-wrap:anywhere}
p{margin:.5rem 0;max-width:75ch}
a{color:var(--accent)}
nav{font-size:.9rem;margin:.5rem 0}nav a{margin-right:.9rem;display:inline-block}
.muted,figcaption,.note{color:var(--muted);font-size:.87rem}header .muted{margin:.2rem 0}
.headline{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,500px);gap:1rem 2rem;align-items:center;margin:1rem 0}
.headline:not(:has(figure)){grid-template-columns:minmax(0,1fr)}
.headline figure{margin:0}.headline h4{display:none}
.result{font-size:1.35rem;line-height:1.4;font-weight:500;margin:0 0 .8rem}
.verdict{background:var(--shade);border-left:4px solid var(--accent);padding:.5rem 1rem;margin:1rem 0}
.verdict ul{margin:.3rem 0;padding-left:1.1rem}.verdict li{margin:.25rem 0}
.scroll{overflow-x:auto;margin:.6rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.82rem}
th,td{padding:.28rem .4rem;text-align:right;border-bottom:1px solid var(--line);vertical-align:top;white-space:nowrap}
th small{display:block;font-weight:400;font-size:.7rem;line-height:1.25;color:var(--muted);white-space:normal}
thead th{border-bottom:2px solid var(--muted);font-weight:600;vertical-align:top;white-space:normal;min-width:4.2rem;max-width:8.5rem;overflow-wrap:break-word}
thead button{all:unset;cursor:pointer;font-weight:600}thead button:hover{color:var(--accent)}thead button:focus-visible{outline:2px solid var(--accent)}
thead button::after{content:'\\2195';color:var(--muted);font-weight:400;padding-left:.25em;font-size:.8em}
[aria-sort=ascending] button::after{content:'\\2191';color:var(--accent)}[aria-sort=descending] button::after{content:'\\2193';color:var(--accent)}
th[scope=row],thead th:first-child{text-align:left;white-space:normal;min-width:12.5rem;max-width:17rem;overflow-wrap:anywhere;position:sticky;left:0;background:var(--paper)}
td.name{white-space:normal;max-width:16rem;min-width:8.5rem;overflow-wrap:anywhere}
th[scope=row]{font-weight:500}td.best,td.small-p{font-weight:700}
.theirs th,.theirs td{color:var(--muted);font-size:.8rem;padding-top:0}thead th:first-child{overflow-wrap:break-word}.theirs th{padding-left:1.4rem}tr:has(+.theirs)>*{border-bottom:0}
.csv{white-space:nowrap}
.row{display:flex;flex-wrap:wrap;gap:1.2rem 1.8rem;align-items:flex-start}
figure{margin:.6rem 0;max-width:100%}
figure .scroll{margin:0}
figure h4{font-size:.92rem;margin:0 0 .3rem;font-weight:600;overflow-wrap:anywhere}
figcaption{max-width:70ch;margin-top:.3rem}
.row figure{flex:0 1 auto;margin:.3rem 0}
.row figcaption{contain:inline-size}
svg.figure{display:block;max-width:100%;height:auto}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.25rem 1rem;margin:.6rem 0}
dt{color:var(--muted)}dd{margin:0;max-width:80ch}
pre{background:var(--shade);padding:.8rem;overflow-x:auto;font-size:.8rem;line-height:1.4;white-space:pre-wrap;overflow-wrap:anywhere}
.methods{background:var(--shade);padding:.8rem 1rem;white-space:pre-line;user-select:all;max-width:90ch}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--accent)}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.6rem}
@media (max-width:860px){.headline{grid-template-columns:minmax(0,1fr)}}
@media (max-width:640px){main{padding:1rem .8rem 2rem}h1{font-size:1.3rem}.result{font-size:1.15rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}
th[scope=row],thead th:first-child{max-width:9.5rem;min-width:7.8rem}th[scope=row] small{display:none}}
@media print{@page{size:A4;margin:10mm}body{font-size:9pt;line-height:1.3}main{max-width:none;padding:0}nav,.csv,details:not([open]),pre{display:none}
h1{font-size:15pt}h2{font-size:11.5pt;margin:1rem 0 .4rem}h3{font-size:10pt;margin:.6rem 0 .2rem}h2,h3,h4,summary,p.note:has(+.row){break-after:avoid}figure,tr,dd,.note,.verdict,.headline{break-inside:avoid}.scroll+.note{break-before:avoid}.scroll{overflow:visible}
.headline{grid-template-columns:minmax(0,.8fr) minmax(0,1fr)}.result{font-size:11pt}.verdict{font-size:8.4pt;padding:.3rem .7rem;margin:.5rem 0}.verdict li{margin:.1rem 0}summary{list-style:none;color:inherit;font-weight:600}
table{font-size:6.9pt}th small{font-size:5.6pt}.theirs th,.theirs td{font-size:6.5pt}th,td{padding:.12rem .25rem}thead th{min-width:0;max-width:5rem}th[scope=row],thead th:first-child{min-width:13em;max-width:15rem;position:static}
.theirs th{padding-left:.7rem}thead button::after{content:''}figcaption,.note,.muted{font-size:7.6pt}
.row{display:block;font-size:0}.row figure{display:inline-block;vertical-align:top;width:49%;margin:.2rem 1% .3rem 0;padding:0}.row figure.medium,.row figure.small{width:24%}.row figure h4{font-size:8pt}.row .scroll{font-size:9pt}footer{margin-top:.6rem}p,dd,.note,.methods{max-width:none}dl{font-size:7.2pt;gap:.05rem .8rem}.methods{font-size:7.8pt;padding:.4rem .6rem}
svg.figure{min-width:0!important;max-height:235mm}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
";

/// Everything for `<style>`.
pub(super) fn sheet() -> String {
    format!(
        "{LIGHT}{PAGE}{RULES}@media screen and (prefers-color-scheme:dark){{{DARK}{DARK_RULES}}}"
    )
}
