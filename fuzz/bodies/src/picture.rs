//! Pictures.

use benzer_core::field::image::{ImageFeatures, ImageOptions, Limits, bytes, decode};

/// Any bytes as a picture of any format, and as base64 text of one: within the limits, or refused.
pub fn image(data: &[u8]) {
    let limits = Limits { bytes: 1 << 20, pixels: 1 << 16 };
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = bytes(text, &limits);
    }
    if let Ok(picture) = decode(data, &limits) {
        assert!((picture.width() * picture.height()) as u64 <= limits.pixels);
        let thumbnail = ImageOptions::new(ImageFeatures::Thumbnail);
        assert_eq!(thumbnail.of(&picture), thumbnail.of(&picture));
    }
}
