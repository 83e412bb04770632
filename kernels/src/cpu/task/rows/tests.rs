//! Tasks of the operators that stream: right inputs pass, others do not.

use super::*;
use crate::backend::{Cache, Kernel, StoredFloat};
use half::f16;

fn tasks<T: CarrierLaunch>(tokens: u64, width: u64) -> [RowTask<T>; 3] {
    let rows = RowSizes { carrier: T::FLOAT, tokens, width };
    let heads = RopeSizes { carrier: T::FLOAT, tokens, heads: 5, head_dim: 2 * width };
    let pool = || Rc::new(RefCell::new(Pool::new(Some(1))));
    let work = Work { kernel: Kernel::Norm(rows), cache: Cache::Cold, seed: 3 };
    [
        RowTask::norm(pool(), Isa::best(), &work, rows, 3).unwrap(),
        RowTask::gate(pool(), Isa::best(), &work, rows, 3).unwrap(),
        RowTask::rope(pool(), Isa::best(), &work, heads, 3).unwrap(),
    ]
}

fn check<T: CarrierLaunch>() {
    for (tokens, width) in [(1, 1), (1, 4096), (3, 129), (100, 33)] {
        for mut task in tasks::<T>(tokens, width) {
            for _ in 0..2 {
                let check = task.check().unwrap();
                assert!(check.passed(), "{:?} {tokens} {width}: {check:?}", T::FLOAT);
                // Timed calls change what is computed in place.
                (0..7).for_each(|iteration| task.run(iteration).unwrap());
            }
            // One number of one input is another one than expected.
            match &mut task.operator {
                Operator::Norm { sets, .. } | Operator::Gate { sets, .. } => {
                    let value = sets[1][1][0].wide();
                    sets[1][1][0] = T::nearest(value + 1.0);
                }
                Operator::Rope { .. } => {
                    // A check restores what it rotates, so this is one by hand.
                    task.restore(1);
                    if let Operator::Rope { sets, .. } = &mut task.operator {
                        sets[1][0] = T::nearest(sets[1][0].wide() + 1.0);
                    }
                    task.run(1).unwrap();
                    assert!(task.error(1) > 1.0, "{:?} {tokens} {width}", T::FLOAT);
                    continue;
                }
            }
            assert!(!task.check().unwrap().passed(), "{:?} {tokens} {width}", T::FLOAT);
        }
    }
}

#[test]
fn every_operator_is_right_and_another_input_is_not() {
    check::<f32>();
    check::<f16>();
}

#[test]
fn a_copy_that_was_not_computed_does_not_pass() {
    for mut task in tasks::<f32>(4, 40) {
        for copy in 0..3 {
            task.restore(copy);
            assert!(task.error(copy) > 1.0);
            task.run(copy as u64).unwrap();
            assert!(task.error(copy) <= 1.0);
            assert!(task.error((copy + 1) % 3) > 1.0 || copy == 2, "{copy}");
        }
    }
}

#[test]
fn costs_and_footprints_by_hand() {
    let [norm, gate, rope] = tasks::<f16>(2, 100);
    for (task, bytes, footprint) in
        [(&norm, 4.0 * 400.0, 3600.0), (&gate, 3.0 * 400.0, 3600.0), (&rope, 8000.0, 12_000.0)]
    {
        assert!((task.cost().bytes.get() - bytes).abs() < 1e-6, "{}", task.cost().bytes.get());
        assert!((task.footprint().get() - footprint).abs() < 1e-6);
    }
    assert_eq!(StoredFloat::Fp16, <f16 as Stored>::FLOAT);
}
