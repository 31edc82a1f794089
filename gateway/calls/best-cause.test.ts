import { expect, it } from 'vitest'
import type { Cause } from '../errors.ts'
import { betterCause } from './best-cause.ts'

const refused = (sip: number): Cause => ({ code: 'far_refused', sip })

it.each<[string, Cause[], Cause]>([
  ['the only one', [refused(404)], refused(404)],
  ['a 6xx, whenever it came', [refused(486), refused(603), refused(404)], refused(603)],
  ['the lower class', [refused(486), refused(503)], refused(486)],
  ['the lower class, later', [refused(503), refused(486)], refused(486)],
  ['what says how to do better', [refused(484), refused(404)], refused(484)],
  ['the later one of two that are alike', [refused(404), refused(486)], refused(486)],
  ['busy before unreachable', [{ code: 'busy' }, { code: 'unreachable' }], { code: 'busy' }],
  ['declined before all', [{ code: 'declined' }, { code: 'no_answer' }], { code: 'declined' }],
])('of several refusals the caller is told %s', (_what, causes, best) => {
  expect(causes.reduce<Cause | undefined>(betterCause, undefined)).toEqual(best)
})
