//! Where a model file may go: nothing is lost by accident, links stay links, devices stay devices.

use crate::model_file::{Folder, small};
use crate::models;
use std::fs;
use std::path::Path;
use stiefel_model::file::FileProblem;
use stiefel_model::{FittedModel, ModelError};

fn model(seed: u64) -> FittedModel {
    let mut config = small();
    config.training.seed = seed;
    config.training.epochs = 1;
    let training = models::of_domain(&models::trials(), 3, false);
    models::fit::<f64>(&training, &config).into()
}

fn problem(model: &FittedModel, path: &Path, overwrite: bool) -> FileProblem {
    match model.save(path, overwrite) {
        Err(ModelError::File {
            path: named,
            problem,
        }) => {
            assert_eq!(named, path);
            problem
        }
        other => panic!("expected an error about the file, got {other:?}"),
    }
}

fn count(folder: &Folder) -> usize {
    fs::read_dir(&folder.0).unwrap().count()
}

#[test]
fn a_file_that_is_there_stays_unless_it_may_go() {
    let folder = Folder::new("saving");
    let (first, second) = (model(1), model(2));
    first.save(folder.file(), false).unwrap();
    let bytes = fs::read(folder.file()).unwrap();
    assert_eq!(first.to_bytes().unwrap(), bytes);
    let found = problem(&second, &folder.file(), false);
    assert_eq!(found, FileProblem::Exists);
    assert!(found.to_string().contains("overwritten"), "{found}");
    assert_eq!(fs::read(folder.file()).unwrap(), bytes);
    second.save(folder.file(), true).unwrap();
    assert_eq!(fs::read(folder.file()).unwrap(), second.to_bytes().unwrap());
    assert_eq!(count(&folder), 1);
}

#[test]
fn a_folder_is_no_file() {
    let folder = Folder::new("saving-folder");
    let model = model(1);
    let taken = folder.0.join("taken");
    fs::create_dir(&taken).unwrap();
    for overwrite in [false, true] {
        let found = problem(&model, &taken, overwrite);
        assert!(found.to_string().contains("not a regular file"), "{found}");
    }
    assert!(taken.is_dir());
    assert_eq!(
        (count(&folder), fs::read_dir(&taken).unwrap().count()),
        (1, 0)
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_stay_links() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("saving-link");
    fs::create_dir(folder.0.join("elsewhere")).unwrap();
    let (target, link) = (folder.0.join("elsewhere/target"), folder.0.join("link"));
    // Through two links, one of them relative to its own folder, to a file that is not there yet.
    symlink("elsewhere/next", &link).unwrap();
    symlink("target", folder.0.join("elsewhere/next")).unwrap();
    let is_link = |path: &Path| fs::symlink_metadata(path).unwrap().is_symlink();
    for seed in [1, 2] {
        let model = model(seed);
        model.save(&link, seed == 2).unwrap();
        assert!(is_link(&link) && is_link(&folder.0.join("elsewhere/next")));
        assert!(!is_link(&target));
        assert_eq!(fs::read(&target).unwrap(), model.to_bytes().unwrap());
        assert!(FittedModel::load(&link).is_ok());
        assert_eq!(problem(&model, &link, false), FileProblem::Exists);
    }
    assert_eq!(fs::read_dir(folder.0.join("elsewhere")).unwrap().count(), 2);
    // A link that leads nowhere in a circle is refused.
    let circle = folder.0.join("circle");
    symlink("circle", &circle).unwrap();
    for overwrite in [false, true] {
        problem(&model(1), &circle, overwrite);
        assert!(is_link(&circle));
    }
}

#[cfg(unix)]
#[test]
fn devices_are_refused() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = Folder::new("saving-device");
    let model = model(1);
    let link = folder.0.join("link");
    symlink("/dev/null", &link).unwrap();
    for path in [Path::new("/dev/null"), &link] {
        for overwrite in [false, true] {
            let found = problem(&model, path, overwrite);
            assert!(found.to_string().contains("not a regular file"), "{found}");
        }
        assert!(FittedModel::load(path).is_err());
    }
    let null = fs::metadata("/dev/null").unwrap();
    assert!(null.file_type().is_char_device());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}
