"""The order of the examples on their page: from first steps to special questions."""

from sphinx_gallery.sorting import FileNameSortKey

ORDER = (
    "quick_start",
    "own_data_from_mne",
    "reading_files",
    "covariance_estimators",
    "study_and_report",
    "views_and_calibration",
    "unseen_subject",
    "live_session",
    "routing_report",
    "scalp_maps",
    "functions_beside_pyriemann",
    "moabb_benchmark",
)


class Order(FileNameSortKey):
    """The place of a file in :data:`ORDER`; others follow by name."""

    def __call__(self, filename):
        name = str(filename).removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)
