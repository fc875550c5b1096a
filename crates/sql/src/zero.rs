//! The sign of zero. To a database -0.0 and 0.0 are one number, and to a model they need not be. So what tells
//! them apart is a key too when rows are grouped, and what comes back gets the sign that it had.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int64Type};
use arrow_array::{ArrayRef, PrimitiveArray};

/// An expression that is 1 where another is -0.0, and 0 elsewhere: only how it is written tells it from 0.0.
pub(crate) fn is_minus(number: &str) -> String {
    format!(
        "CAST(CASE WHEN {number} <> 0 THEN 0 WHEN CAST({number} AS VARCHAR) LIKE '-%' THEN 1 ELSE 0 END AS BIGINT)"
    )
}

/// Numbers in which one zero stands for both, with the sign that each had.
pub(crate) fn signed(numbers: &ArrayRef, is_minus: &ArrayRef) -> ArrayRef {
    let Some(is_minus) = is_minus.as_primitive_opt::<Int64Type>() else {
        return Arc::clone(numbers);
    };
    if let Some(numbers) = numbers.as_primitive_opt::<Float64Type>() {
        Arc::new(with_signs(numbers, is_minus, [0.0, -0.0]))
    } else if let Some(numbers) = numbers.as_primitive_opt::<Float32Type>() {
        Arc::new(with_signs(numbers, is_minus, [0.0, -0.0]))
    } else {
        Arc::clone(numbers)
    }
}

fn with_signs<T>(
    numbers: &PrimitiveArray<T>,
    is_minus: &PrimitiveArray<Int64Type>,
    [plus, minus]: [T::Native; 2],
) -> PrimitiveArray<T>
where
    T: ArrowPrimitiveType<Native: PartialEq>,
{
    let numbers = numbers.iter().zip(is_minus.iter());
    let signed = numbers.map(|(number, is_minus)| match number {
        Some(number) if number == plus && is_minus == Some(1) => Some(minus),
        Some(number) if number == plus => Some(plus),
        other => other,
    });
    signed.collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::{Float32Array, Float64Array, Int64Array, StringArray};

    use super::*;

    #[test]
    fn a_zero_gets_the_sign_that_it_had() {
        let is_minus: ArrayRef = Arc::new(Int64Array::from(vec![1, 0, 1, 0, 0]));
        let bits = |numbers: ArrayRef| -> Vec<Option<u64>> {
            let signed = signed(&numbers, &is_minus);
            let numbers = signed.as_primitive::<Float64Type>().iter();
            numbers.map(|number| number.map(f64::to_bits)).collect()
        };
        let numbers = vec![Some(0.0), Some(-0.0), Some(-0.0), None, Some(-2.5)];
        let expected = [Some(-0.0_f64), Some(0.0), Some(-0.0), None, Some(-2.5)];
        assert_eq!(
            bits(Arc::new(Float64Array::from(numbers))),
            expected.map(|number| number.map(f64::to_bits))
        );
        let single: ArrayRef = Arc::new(Float32Array::from(vec![0.0_f32; 5]));
        let single = signed(&single, &is_minus);
        let single = single.as_primitive::<Float32Type>();
        assert!(single.value(0).is_sign_negative() && single.value(1).is_sign_positive());
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["0.0"; 5]));
        assert_eq!(&signed(&texts, &is_minus), &texts);
    }
}
