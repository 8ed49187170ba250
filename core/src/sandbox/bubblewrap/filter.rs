//! Programs of the kernel's packet filter that judge system calls.

/// What to do with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    /// Fails with this error.
    Fail(u16),
    /// Ends the process.
    Kill,
}

impl Verdict {
    const fn code(self) -> u32 {
        match self {
            Verdict::Allow => 0x7fff_0000,
            Verdict::Fail(error) => 0x0005_0000 | error as u32,
            Verdict::Kill => 0x8000_0000,
        }
    }
}

/// When a rule about a call applies. Arguments are counted from zero; only their lower half is looked at,
/// as the kernel does with the arguments in question.
#[derive(Clone, Debug)]
pub(super) enum When {
    Always,
    /// Some of these bits are set.
    AnyBit {
        argument: u32,
        bits: u32,
    },
    /// All of these hold: some of the bits of each argument are set.
    AllOf(Vec<(u32, u32)>),
    /// It is one of these.
    OneOf {
        argument: u32,
        values: Vec<u32>,
    },
    /// It is none of these.
    NoneOf {
        argument: u32,
        values: Vec<u32>,
    },
    /// The first is this, and the second is not that.
    Pair {
        is: (u32, u32),
        but_not: (u32, u32),
    },
}

/// What happens to a call under a condition. There may be several for the same call.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) call: i64,
    pub(super) when: When,
    pub(super) verdict: Verdict,
}

const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const JUMP_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[derive(Clone, Copy)]
pub(super) struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    value: u32,
}

const fn load(offset: u32) -> Instruction {
    Instruction {
        code: LOAD,
        if_true: 0,
        if_false: 0,
        value: offset,
    }
}

const fn finish(verdict: Verdict) -> Instruction {
    Instruction {
        code: RETURN,
        if_true: 0,
        if_false: 0,
        value: verdict.code(),
    }
}

const fn jump(code: u16, value: u32, if_true: u8, if_false: u8) -> Instruction {
    Instruction {
        code,
        if_true,
        if_false,
        value,
    }
}

/// The program for these rules; what they do not name is allowed.
///
/// Calls of another architecture end the process, and so do those from `foreign` on, which are another
/// way to reach the same calls.
pub(super) fn program(architecture: u32, foreign: Option<u32>, rules: &[Rule]) -> Vec<u8> {
    let mut code = vec![
        load(ARCHITECTURE),
        jump(JUMP_EQUAL, architecture, 1, 0),
        finish(Verdict::Kill),
        load(NUMBER),
    ];
    if let Some(first) = foreign {
        code.extend([jump(JUMP_AT_LEAST, first, 0, 1), finish(Verdict::Kill)]);
    }
    for rule in rules {
        let number = u32::try_from(rule.call).unwrap_or(u32::MAX);
        let body = body(rule);
        let length = u8::try_from(body.len()).unwrap_or(u8::MAX);
        code.push(jump(JUMP_EQUAL, number, 0, length));
        code.extend(body);
    }
    code.push(finish(Verdict::Allow));
    code.iter().flat_map(Instruction::bytes).collect()
}

/// What runs for the call of a rule. It ends with a verdict, or with the number of the call loaded again.
fn body(rule: &Rule) -> Vec<Instruction> {
    let verdict = finish(rule.verdict);
    match &rule.when {
        When::Always => vec![verdict],
        When::AnyBit { argument, bits } => all_of(&[(*argument, *bits)], verdict),
        When::AllOf(parts) => all_of(parts, verdict),
        When::OneOf { argument, values } => {
            let mut code = vec![load_argument(*argument)];
            for (index, value) in (1_u8..).zip(values) {
                // To the verdict, over the comparisons that follow and the reload.
                let rest = u8::try_from(values.len()).unwrap_or(u8::MAX) - index;
                code.push(jump(JUMP_EQUAL, *value, rest + 2, 0));
            }
            code.extend([load(NUMBER), jump(JUMP_AT_LEAST, 0, 1, 1), verdict]);
            code
        }
        When::NoneOf { argument, values } => {
            let mut code = vec![load_argument(*argument)];
            for (index, value) in (1_u8..).zip(values) {
                let rest = u8::try_from(values.len()).unwrap_or(u8::MAX) - index;
                code.push(jump(JUMP_EQUAL, *value, rest + 1, 0));
            }
            code.extend([verdict, load(NUMBER)]);
            code
        }
        When::Pair { is, but_not } => vec![
            load_argument(is.0),
            jump(JUMP_EQUAL, is.1, 0, 3),
            load_argument(but_not.0),
            jump(JUMP_EQUAL, but_not.1, 1, 0),
            verdict,
            load(NUMBER),
        ],
    }
}

fn all_of(parts: &[(u32, u32)], verdict: Instruction) -> Vec<Instruction> {
    let mut code = Vec::new();
    for (index, (argument, bits)) in (1_u8..).zip(parts) {
        let rest = u8::try_from(parts.len()).unwrap_or(u8::MAX) - index;
        code.push(load_argument(*argument));
        // To the reload, over the checks that follow and the verdict.
        code.push(jump(JUMP_ANY_BIT, *bits, 0, rest * 2 + 1));
    }
    code.extend([verdict, load(NUMBER)]);
    code
}

const fn load_argument(index: u32) -> Instruction {
    load(ARGUMENTS + 8 * index)
}

impl Instruction {
    fn bytes(&self) -> [u8; 8] {
        let [a, b] = self.code.to_ne_bytes();
        let [e, f, g, h] = self.value.to_ne_bytes();
        [a, b, self.if_true, self.if_false, e, f, g, h]
    }
}

#[cfg(test)]
pub(super) mod machine {
    use super::*;

    /// What `program` says about a call.
    pub(in super::super) fn judge(program: &[u8], arch: u32, call: i64, args: [u64; 6]) -> Verdict {
        let mut data = vec![0_u8; ARGUMENTS as usize];
        data[..4].copy_from_slice(&(call as u32).to_ne_bytes());
        data[4..8].copy_from_slice(&arch.to_ne_bytes());
        data.extend(args.iter().flat_map(|value| value.to_le_bytes()));
        let (mut at, mut value) = (0, 0_u32);
        loop {
            let line = &program[at * 8..at * 8 + 8];
            let code = u16::from_ne_bytes([line[0], line[1]]);
            let given = u32::from_ne_bytes([line[4], line[5], line[6], line[7]]);
            at += 1;
            let holds = match code {
                LOAD => {
                    let place = given as usize;
                    value = u32::from_ne_bytes(data[place..place + 4].try_into().unwrap());
                    continue;
                }
                RETURN if given == Verdict::Allow.code() => return Verdict::Allow,
                RETURN if given == Verdict::Kill.code() => return Verdict::Kill,
                RETURN => return Verdict::Fail(given as u16),
                JUMP_EQUAL => value == given,
                JUMP_AT_LEAST => value >= given,
                JUMP_ANY_BIT => value & given != 0,
                other => panic!("no such instruction: {other:#x}"),
            };
            at += usize::from(if holds { line[2] } else { line[3] });
        }
    }
}
