use proptest::prelude::*;

use super::*;

fn goal() -> Goal {
    Goal::default()
}

fn shortfall(goal: Goal) -> Shortfall {
    match plan(&goal) {
        Err(Failure::Shortfall(shortfall)) => *shortfall,
        other => panic!("expected a shortfall, got {:?}", other.map(|plan| plan.chosen)),
    }
}

#[test]
fn the_default_goal_gives_the_default_sketch() {
    let plan = plan(&goal()).unwrap();
    assert_eq!(plan.chosen.spec(), SketchSpec::default());
    let banded = plan.chosen.banded.as_ref().unwrap();
    assert_eq!((banded.banding.bands(), banded.banding.rows(), banded.min_equal), (18, 7, 88));
    assert!((banded.recall - 0.986).abs() < 1e-3);
    assert_eq!((plan.chosen.footprint.ram, plan.chosen.bits_per_document), (344_000_000, 1024));
    assert!(plan.chosen.is_met() && plan.alternatives.contains(&plan.chosen));
    assert_eq!(plan.curve.len(), 101);
}

#[test]
fn all_alternatives_have_the_same_error_and_fewer_bits_need_more_registers() {
    let plan = plan(&goal()).unwrap();
    let names: Vec<String> = plan.alternatives.iter().map(Choice::to_string).collect();
    assert_eq!(names.len(), 8);
    for choice in &plan.alternatives {
        assert!(choice.standard_error <= plan.error * (1.0 + 1e-9), "{choice}");
        assert!(choice.standard_error > plan.error * 0.97, "{choice}: {}", choice.standard_error);
        assert!(choice.factor > 0.5 && choice.factor < 1.0);
    }
    let bits: Vec<u64> = plan.alternatives.iter().map(|c| c.bits_per_document).collect();
    assert!(bits[..6].windows(2).all(|w| w[0] > w[1]), "at 0.8 one bit needs the least storage: {bits:?}");
    let registers: Vec<u32> = plan.alternatives.iter().map(|c| c.registers).collect();
    assert!(registers[..6].windows(2).all(|w| w[0] <= w[1]), "{registers:?}");
}

#[test]
fn merged_registers_only_filter_and_short_keys_break_the_rule() {
    let plan = plan(&goal()).unwrap();
    let [_, _, _, _, _, one_bit, xor, odd] = &plan.alternatives[..] else { panic!("eight rows") };
    assert!(xor.is_filter_only() && odd.is_filter_only());
    assert_eq!(xor.unmet, [Constraint::Bands]);
    assert!(xor.to_string().ends_with("filter only"));
    assert_eq!((xor.footprint.postings, one_bit.unmet.as_slice()), (0, &[Constraint::KeyBits][..]));
    let banded = one_bit.banded.as_ref().unwrap();
    assert!(f64::from(banded.key_bits) < banded.key_bits_needed && banded.recall >= 0.95);
}

#[test]
fn low_thresholds_get_more_bits_and_small_memory_fewer_bands() {
    let low = plan(&Goal { threshold: 0.5, ..goal() }).unwrap();
    assert_eq!(low.chosen.to_string(), "127 registers of 16 bits, 42 x 3");
    let tight = plan(&Goal { memory: Some(300_000_000), ..goal() }).unwrap();
    assert_eq!(tight.chosen.to_string(), "128 registers of 8 bits, 14 x 7");
    assert!(tight.chosen.footprint.ram <= 300_000_000);
    let tighter = plan(&Goal { memory: Some(240_000_000), ..goal() }).unwrap();
    assert!(tighter.chosen.is_met() && tighter.chosen.footprint.ram <= 240_000_000, "{}", tighter.chosen);
}

#[test]
fn a_stricter_error_takes_more_registers() {
    let strict = plan(&Goal { error: Some(0.01), ..goal() }).unwrap();
    assert!(strict.chosen.registers > 700 && strict.chosen.standard_error <= 0.01);
    assert_eq!(strict.error, 0.01);
}

#[test]
fn what_memory_cannot_hold_says_what_would_have_to_give() {
    let short = shortfall(Goal { documents: 1_000_000_000, memory: Some(16 << 30), ..goal() });
    let text = short.to_string();
    assert!(text.starts_with("this plan cannot be met: 16 GiB of memory hold 17.2 bytes for each"), "{text}");
    for argument in ["raise `memory` to ", "lower `documents` to "] {
        assert!(text.contains(argument), "{text}");
    }
    assert_eq!(short.violated[0].constraint, Constraint::Memory);
    let leanest = short.leanest.clone().unwrap();
    assert_eq!(short.violated[0].nearest, Some(leanest.footprint.ram as f64));
    assert_eq!(short.alternatives.len(), 8);
    assert_eq!(serde_json::from_str::<Shortfall>(&serde_json::to_string(&short).unwrap()).unwrap(), short);
}

#[test]
fn every_remedy_is_one() {
    let hard = [
        Goal { documents: 10_000_000, memory: Some(2_000_000_000), ..goal() },
        Goal { error: Some(1e-4), ..goal() },
        Goal { threshold: 1e-5, ..goal() },
        Goal { documents: u64::MAX, threshold: 0.3, ..goal() },
    ];
    for hard in hard {
        let short = shortfall(hard);
        assert!(!short.remedies.is_empty(), "{short}");
        for remedy in &short.remedies {
            let x = remedy.value;
            let easier = match remedy.argument.as_str() {
                "memory" => Goal { memory: Some(x as u64), ..hard },
                "recall" => Goal { recall: x, ..hard },
                "error" => Goal { error: Some(x), ..hard },
                "documents" => Goal { documents: x as u64, ..hard },
                "threshold" => Goal { threshold: x, ..hard },
                other => panic!("unknown argument {other}"),
            };
            assert!(plan(&easier).is_ok(), "{remedy} in {short}");
        }
    }
}

#[test]
fn the_reason_is_the_one_that_stands_in_the_way() {
    let reason = |goal| shortfall(goal).violated[0].constraint;
    assert_eq!(reason(Goal { error: Some(1e-4), ..goal() }), Constraint::Error);
    assert_eq!(reason(Goal { threshold: 1e-5, ..goal() }), Constraint::Recall);
}

#[test]
fn nonsense_is_refused_by_name() {
    let refuse = |goal: Goal| match plan(&goal) {
        Err(Failure::Parameter(error)) => error.to_string(),
        other => panic!("expected a refusal, got {:?}", other.map(|plan| plan.chosen)),
    };
    for threshold in [0.0, -1.0, 1.1, f64::NAN, f64::INFINITY] {
        assert!(
            refuse(Goal { threshold, ..goal() }).starts_with("`threshold` must be above 0 and at most 1")
        );
    }
    assert!(refuse(Goal { recall: 0.0, ..goal() }).starts_with("`recall`"));
    assert!(refuse(Goal { recall: 1.0, ..goal() }).contains("exact join"));
    assert!(refuse(Goal { documents: 0, ..goal() }).starts_with("`documents` must be at least 1"));
    for set_size in [0.0, 0.5, f64::NAN, f64::INFINITY] {
        assert!(refuse(Goal { set_size, ..goal() }).starts_with("`set_size`"));
    }
    assert!(refuse(Goal { memory: Some(0), ..goal() }).starts_with("`memory`"));
    for error in [0.0, 1.0, f64::NAN] {
        assert!(refuse(Goal { error: Some(error), ..goal() }).starts_with("`error`"));
    }
}

#[test]
fn a_plan_survives_json_and_a_goal_needs_only_what_differs() {
    let plan = plan(&goal()).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    assert_eq!(
        serde_json::from_str::<Goal>(r#"{"threshold":0.9}"#).unwrap(),
        Goal { threshold: 0.9, ..goal() }
    );
    assert!(serde_json::from_str::<Goal>(r#"{"treshold":0.9}"#).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_goal_is_met_or_refused_with_a_reason(
        threshold in 1e-6f64..=1.0, recall in 1e-6f64..0.999_999, documents in 1u64.., set_size in 1f64..1e9,
        memory in proptest::option::of(1u64..), error in proptest::option::of(1e-6f64..0.999),
    ) {
        let goal = Goal { threshold, recall, documents, set_size, memory, error, ..Goal::default() };
        match plan(&goal) {
            Ok(plan) => {
                prop_assert!(plan.chosen.is_met());
                prop_assert!(memory.is_none_or(|memory| plan.chosen.footprint.ram <= memory));
                let banded = plan.chosen.banded.as_ref().unwrap();
                prop_assert!(banded.recall >= recall && banded.banding.check_documents(documents).is_ok());
                prop_assert!(plan.chosen.spec().validate().is_ok());
                prop_assert!(plan.curve.windows(2).all(|w| w[0].recall <= w[1].recall));
            }
            Err(Failure::Shortfall(short)) => prop_assert!(!short.violated.is_empty() && !short.to_string().contains("NaN")),
            Err(Failure::Parameter(error)) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn more_memory_never_makes_a_plan_impossible(memory in 100u64..1000, threshold in 0.3f64..0.99) {
        let with = |memory| plan(&Goal { memory: Some(memory * 1_000_000), threshold, ..Goal::default() }).is_ok();
        prop_assert!(!with(memory) || with(memory * 2));
    }
}
