//! What the reader chose in the Model view.

/// Everything that decides what the Model view shows, but for device and power mode, which the views share.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInputs {
    /// Key of the model.
    pub model: String,
}

impl Default for ModelInputs {
    fn default() -> Self {
        Self { model: "llama-3.1-8b".to_owned() }
    }
}
