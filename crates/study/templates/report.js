// Sorts a table by a click on the name of a column. There is no less-than sign in it, so that nothing ends it
// early.
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const label = head.querySelector('span');
    const button = document.createElement('button');
    button.type = 'button';
    button.title = 'Sort by this column';
    button.append(...label.childNodes);
    label.replaceWith(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === (column ? 'descending' : 'ascending');
      const side = down === (column === 0) ? 'descending' : 'ascending';
      heads.forEach((h) => h.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', side);
      const sign = side === 'descending' ? -1 : 1;
      const groups = [];
      for (const row of [...table.tBodies[0].rows]) {
        if (row.className === 'theirs' && groups.length) groups.at(-1).push(row);
        else groups.push([row]);
      }
      const key = (group) => {
        const cell = group[0].cells[column];
        return 'v' in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
      };
      const numeric = groups.some((g) => typeof key(g) === 'number');
      const compare = (a, b) => {
        const [p, q] = [key(a), key(b)];
        if (!numeric) return sign * p.localeCompare(q, 'en', { numeric: true });
        if (typeof p !== typeof q) return typeof p === 'number' ? -1 : 1;
        return typeof p === 'number' ? sign * (p - q) : 0;
      };
      groups.sort(compare);
      table.tBodies[0].append(...groups.flat());
    });
  });
}
