//! Fields of a question beside its model and its device: the machine around a card, memory of other programs, images of a prompt.
//! The page keeps these fields as texts and reads them here, as the command line does.

use calc_core::device::Device;
use calc_core::error::Error;
use calc_core::image::AskedImages;
use calc_core::lowering::Images;
use calc_core::model_arch::ModelArch;
use calc_core::plan::Behind;
use calc_core::units::Bytes;

use super::{Fields, Library, RequestError, host, memory};

/// A field of a request with its text.
pub type ToldField = (&'static str, String);

/// Fields about the machine around a card, and the memory that other programs take.
pub const OF_MACHINE: [&str; 5] = ["host", "host_memory_gb", "host_link", "ssd_gb_s", "reserve_gb"];
/// Fields about images and towers.
pub const OF_IMAGES: [&str; 3] = ["image", "image_tokens", "language_model_only"];

/// The machine around a card.
#[derive(Debug, Clone)]
pub struct Machine {
    pub host: Option<Behind>,
    /// Memory that other programs take: of the host, or of the device where there is none.
    pub reserve: Option<Bytes>,
    /// Upper limit of the memory in use on the device.
    pub memory_limit: Option<Bytes>,
    /// Notes on what was taken.
    pub said: Vec<String>,
}

impl Machine {
    /// Reads the fields about the machine around a device, whose memory a request limits.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn read(
        fields: &mut Fields,
        library: &Library<'_>,
        (device, limit): (&Device, Option<Bytes>),
    ) -> Result<Self, RequestError> {
        let (reserve, reserve_said) = host::reserve(fields)?.unzip();
        let (host, said) = host::host(fields, library, device, reserve)?.unzip();
        // Other programs share the memory of the host, or that of the device where there is no host.
        let own_reserve = reserve.filter(|_| host.is_none());
        let memory_limit = memory::limit_beside(limit, own_reserve, device);
        let said = said.into_iter().chain(reserve_said).collect();
        Ok(Self { host, reserve, memory_limit, said })
    }
}

/// Images of a prompt, and whether the towers for images and sound are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pictures {
    pub asked: Option<AskedImages>,
    /// Images with the tokens that the model of the request makes of them.
    pub images: Option<Images>,
    pub language_model_only: bool,
}

impl Pictures {
    /// Reads the fields about images for a model.
    ///
    /// # Errors
    /// The first invalid field; images of a model without a tower for them, or whose towers are left out.
    pub fn read(fields: &mut Fields, model: &ModelArch) -> Result<Self, RequestError> {
        let language_model_only = fields.flag("language_model_only")?;
        if language_model_only && fields.has("image") {
            let (first, second) = ("image", "language_model_only");
            return Err(Error::Conflict { first, second, needs: false }.into());
        }
        let asked = fields.images()?;
        let images = asked.map(|asked| Images::new(model, &asked)).transpose()?;
        Ok(Self { asked, images, language_model_only })
    }
}

/// The fields of this kind that a request has, as texts.
pub(super) fn told(fields: &Fields) -> Vec<ToldField> {
    let keys = OF_MACHINE.into_iter().chain(OF_IMAGES);
    keys.filter_map(|key| Some((key, fields.shown_text(key)?))).collect()
}

/// The fields of a machine in texts that everybody can read: a processor from a file of the user is not among them.
pub fn is_of_catalogs(told: &[ToldField], device: &Device) -> bool {
    let mut fields = Fields::from_texts(told.iter().map(|(key, text)| (*key, &**text)));
    Machine::read(&mut fields, &Library::CATALOGS, (device, None)).is_ok()
}

/// The card and the host in a name: `rtx 4090` and `96 GB of DDR5` of `rtx 4090 with 96 GB of DDR5`.
pub fn card_and_host(name: &str) -> Option<(&str, &str)> {
    host::card_and_host(name)
}

/// A host without its memory, and the memory [GB as sold]: `ddr5` and 96 of `96 GB of DDR5`. `None` for a host that names none.
pub fn host_and_memory(text: &str) -> Option<(String, f64)> {
    host::host_and_memory(text)
}
