/** One SRV record (RFC 2782). */
export interface Srv {
  readonly name: string
  readonly port: number
  readonly priority: number
  readonly weight: number
}

/**
 * Removes one record from `left` by weight. Records of weight 0 stand first and so keep a small chance.
 */
const draw = (left: Srv[], random: () => number): Srv => {
  left.sort((a, b) => Number(a.weight > 0) - Number(b.weight > 0))
  const sum = left.reduce((total, each) => total + each.weight, 0)
  const wanted = Math.floor(random() * (sum + 1))
  let reached = 0
  const index = left.findIndex((each) => {
    reached += each.weight
    return reached >= wanted
  })
  return left.splice(index, 1)[0] as Srv
}

/**
 * Returns SRV records in the order of attempts: by priority, then by weight. `random` returns a number from 0
 * to below 1.
 */
export const orderSrv = (records: readonly Srv[], random: () => number): Srv[] => {
  const out: Srv[] = []
  const priorities = [...new Set(records.map((each) => each.priority))].sort((a, b) => a - b)
  for (const priority of priorities) {
    const left = records.filter((each) => each.priority === priority)
    while (left.length > 0) out.push(draw(left, random))
  }
  return out
}
