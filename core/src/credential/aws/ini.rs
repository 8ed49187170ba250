//! The syntax of AWS's shared files.

use std::collections::BTreeMap;

/// The settings of one section. Names are in lower case.
pub(super) type Section = BTreeMap<String, String>;

/// Reads sections in the order of their names; of a setting that comes twice, the last one counts.
///
/// Lines that begin with white space go on with the setting above: nested settings, which nothing
/// here needs. What is neither is passed over, because other tools keep their own things there.
pub(super) fn parse(text: &str) -> BTreeMap<String, Section> {
    let mut sections: BTreeMap<String, Section> = BTreeMap::new();
    let mut current: Option<String> = None;
    let mut continues = false;
    for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if continues && line.starts_with([' ', '\t']) {
            continue;
        }
        if let Some(name) = trimmed
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .map(|(name, _)| name.trim())
        {
            sections.entry(name.to_owned()).or_default();
            current = Some(name.to_owned());
            continues = false;
            continue;
        }
        let (Some(section), Some(at)) = (&current, trimmed.find(['=', ':'])) else {
            continue;
        };
        let (name, value) = trimmed.split_at(at);
        let value = value.get(1..).unwrap_or_default().trim();
        if let Some(section) = sections.get_mut(section) {
            section.insert(name.trim().to_ascii_lowercase(), value.to_owned());
            continues = true;
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_and_settings_are_read_as_the_vendors_tools_do() {
        let text = "\u{feff}# a comment\nlost = 1\n[default]\naws_access_key_id=AKID\n\
            AWS_SECRET_ACCESS_KEY = a=b/c+d #x\n\n[profile \"two words\"] ; note\nregion: eu-west-1\r\n\
            s3 =\n  max_concurrent_requests = 20\n  region = nested\nnonsense\n; end\n\
            [default]\nregion = us-east-1\n";
        let sections = parse(text);
        let names: Vec<&String> = sections.keys().collect();
        assert_eq!(names, ["default", "profile \"two words\""]);
        let default = &sections["default"];
        assert_eq!(default["aws_access_key_id"], "AKID");
        assert_eq!(default["aws_secret_access_key"], "a=b/c+d #x");
        assert_eq!(default["region"], "us-east-1");
        assert_eq!(sections["profile \"two words\""]["region"], "eu-west-1");
        assert_eq!(sections["profile \"two words\""]["s3"], "");
    }
}
