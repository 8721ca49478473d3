//! The values of a MATLAB file.

/// Anything a variable, a cell or a field can hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Numbers and logicals.
    Numeric(NumericArray),
    /// Text.
    Char(CharArray),
    /// A cell array.
    Cell(CellArray),
    /// A struct or an array of structs.
    Struct(StructArray),
    /// A class that is passed over, by name: objects, function handles, sparse matrices.
    Other(&'static str),
}

/// Numbers of any class as `f64`; the first index runs fastest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NumericArray {
    /// The size in each dimension.
    pub(crate) dims: Vec<usize>,
    /// The real parts.
    pub(crate) data: Vec<f64>,
    /// Whether imaginary parts were passed over.
    pub(crate) complex: bool,
}

/// The rows of a char array, without trailing blanks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CharArray {
    /// One string per row.
    pub(crate) rows: Vec<String>,
}

/// Cells; the first index runs fastest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellArray {
    /// The size in each dimension.
    pub(crate) dims: Vec<usize>,
    /// The cells.
    pub(crate) cells: Vec<Value>,
}

/// Structs of the same fields; the first index runs fastest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StructArray {
    /// The size in each dimension.
    pub(crate) dims: Vec<usize>,
    /// The field names.
    pub(crate) fields: Vec<String>,
    /// The fields of the first struct, then of the second, and so on.
    pub(crate) values: Vec<Value>,
}

impl StructArray {
    /// The number of structs.
    pub(crate) fn count(&self) -> usize {
        self.values
            .len()
            .checked_div(self.fields.len())
            .unwrap_or(0)
    }

    /// A field of one of the structs.
    pub(crate) fn field(&self, element: usize, name: &str) -> Option<&Value> {
        let place = self.fields.iter().position(|f| f == name)?;
        self.values.get(element * self.fields.len() + place)
    }

    /// Takes the structs apart: each a list of its fields.
    pub(crate) fn into_elements(self) -> Vec<Vec<(String, Value)>> {
        let mut elements = Vec::new();
        let mut values = self.values.into_iter().peekable();
        while values.peek().is_some() {
            elements.push(self.fields.iter().cloned().zip(values.by_ref()).collect());
        }
        elements
    }
}

impl Value {
    /// What this is, for messages.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Numeric(array) => format!("numeric array of size {:?}", array.dims),
            Self::Char(_) => "char array".into(),
            Self::Cell(array) => format!("cell array of size {:?}", array.dims),
            Self::Struct(array) => format!("struct array of size {:?}", array.dims),
            Self::Other(class) => (*class).into(),
        }
    }

    /// The size in each dimension; of text, its rows.
    pub(crate) fn dims(&self) -> Vec<usize> {
        match self {
            Self::Numeric(a) => a.dims.clone(),
            Self::Cell(a) => a.dims.clone(),
            Self::Struct(a) => a.dims.clone(),
            Self::Char(a) => vec![a.rows.len()],
            Self::Other(_) => Vec::new(),
        }
    }

    /// The only number of an array of one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self.numbers()? {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// Text, or a number written as text: `T1`, `769`.
    pub(crate) fn label(&self) -> Option<String> {
        match self {
            Self::Char(text) => Some(text.rows.concat()),
            Self::Cell(array) if array.cells.len() == 1 => array.cells[0].label(),
            _ => self.number().map(|n| n.to_string()),
        }
    }

    /// The numbers of a real array.
    pub(crate) fn numbers(&self) -> Option<&[f64]> {
        match self {
            Self::Numeric(array) if !array.complex => Some(&array.data),
            _ => None,
        }
    }

    /// Strings: the rows of a char array, or the cells of a cell array of strings.
    pub(crate) fn strings(&self) -> Option<Vec<String>> {
        match self {
            Self::Char(array) => Some(array.rows.clone()),
            Self::Cell(array) => array
                .cells
                .iter()
                .map(|cell| match cell {
                    Self::Char(text) => Some(text.rows.concat()),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }
}
