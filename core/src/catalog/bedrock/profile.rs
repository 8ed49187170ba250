//! Names of models at Amazon Bedrock.

/// Where an inference profile may route requests; its id is that of the model behind one of these.
const AREAS: &[&str] = &[
    "global.", "us.", "us-gov.", "eu.", "apac.", "jp.", "au.", "ca.", "in.", "sa.", "me.", "af.",
];

/// The model behind an inference profile, or behind the ARN of a model or of a profile of AWS's own; any other id
/// as it is.
pub(in crate::catalog) fn base_model(id: &str) -> &str {
    let name = match id.strip_prefix("arn:") {
        None => id,
        Some(arn) => match arn.rsplit_once('/') {
            Some((kind, name))
                if kind.ends_with(":foundation-model") || kind.ends_with(":inference-profile") =>
            {
                name
            }
            _ => return id,
        },
    };
    let areas = AREAS.iter().filter_map(|area| name.strip_prefix(area));
    // What is left names vendor and model. Otherwise the prefix was a vendor's name.
    areas
        .filter(|rest| rest.contains('.'))
        .min_by_key(|rest| rest.len())
        .unwrap_or(name)
}

/// Whether requests to `id` may be answered anywhere.
pub(super) fn is_global(id: &str) -> bool {
    id.rsplit('/').next().unwrap_or(id).starts_with("global.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_arns_lead_to_the_model() {
        let model = "anthropic.claude-haiku-4-5-20251001-v1:0";
        for id in [
            "",
            "us.",
            "us-gov.",
            "global.",
            "arn:aws:bedrock:us-east-1::foundation-model/",
            "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.",
        ] {
            assert_eq!(base_model(&format!("{id}{model}")), model, "{id}");
        }
        for other in [
            "us.model",
            "meta.llama",
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
            "arn:aws:bedrock:us-east-1:123456789012:provisioned-model/us.a.b",
            "",
        ] {
            assert_eq!(base_model(other), other);
        }
        assert!(is_global("global.a.b") && !is_global("us.a.b"));
    }
}
