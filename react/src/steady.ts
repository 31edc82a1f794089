/**
 * Returns a function that reads a view, and returns the same object while its content is unchanged: React
 * compares by identity.
 */
export const steady = <View extends object>(readView: () => View): (() => View) => {
  let kept: View | undefined
  return () => {
    const next = readView()
    const same = kept && Object.entries(next).every(([name, value]) => kept?.[name as keyof View] === value)
    if (!same) kept = next
    return kept as View
  }
}
