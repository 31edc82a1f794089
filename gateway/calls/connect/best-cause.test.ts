import { expect, it } from 'vitest'
import { type Cause, sipStatusOf } from '../../core/errors/catalogue.ts'
import { betterCause, causeForCaller } from './best-cause.ts'

const refused = (sip: number): Cause => ({ code: 'far_refused', sip })

it.each<[string, Cause[], Cause]>([
  ['the only one', [refused(404)], refused(404)],
  ['a 6xx, whenever it came', [refused(486), refused(603), refused(404)], refused(603)],
  ['the lower class', [refused(486), refused(503)], refused(486)],
  ['the lower class, later', [refused(503), refused(486)], refused(486)],
  ['what says how to do better', [refused(484), refused(404)], refused(484)],
  ['the later one of two that are alike', [refused(404), refused(486)], refused(486)],
  ['busy before unreachable', [{ code: 'busy' }, { code: 'unreachable' }], { code: 'busy' }],
  [
    'busy before a place that said nothing',
    [{ code: 'busy' }, { code: 'unreachable', sip: 408 }],
    { code: 'busy' },
  ],
  ['declined before all', [{ code: 'declined' }, { code: 'no_answer' }], { code: 'declined' }],
])('of several refusals the caller receives %s', (_what, causes, best) => {
  expect(causes.reduce<Cause | undefined>(betterCause, undefined)).toEqual(best)
})

it.each<[Cause, number]>([
  [{ code: 'too_many_hops' }, 483],
  [{ code: 'unknown_address' }, 404],
  [{ code: 'not_permitted' }, 403],
  [refused(404), 404],
  [refused(484), 484],
  [refused(488), 488],
  [{ code: 'no_common_codec' }, 488],
  [{ code: 'srtp_mismatch' }, 488],
  [{ code: 'bad_sdp' }, 502],
  [{ code: 'busy', sip: 600 }, 600],
  [{ code: 'declined', sip: 603 }, 603],
  [{ code: 'no_answer' }, 480],
  [{ code: 'no_answer', sip: 408 }, 408],
  [{ code: 'unreachable', sip: 408 }, 408],
  [{ code: 'not_online' }, 480],
  // A carrier that receives a 503 stops using the whole gateway.
  [refused(503), 500],
  // Concerns the gateway's INVITE, not the caller's: neither the header that explains it nor a retry would
  // help the caller.
  ...[400, 405, 406, 411, 412, 413, 414, 416, 417, 420, 421, 422, 423, 424, 428, 430, 439, 440].map(
    (status): [Cause, number] => [refused(status), 500],
  ),
  ...[469, 470, 481, 487, 489, 491, 493, 494, 501, 505, 513].map((status): [Cause, number] => [
    refused(status),
    500,
  ]),
  // The caller has received no challenge that it could answer.
  [refused(401), 502],
  [refused(407), 502],
  // Concerns the audio, as 488 does; a 415 would have to list what is accepted (RFC 3261 section 8.2.3).
  [refused(415), 488],
  [refused(580), 488],
  // Concerns the callee.
  ...[402, 403, 404, 408, 410, 433, 480, 482, 483, 484, 485, 486, 488, 500, 502, 504].map(
    (status): [Cause, number] => [refused(status), status],
  ),
  ...[600, 603, 604, 606].map((status): [Cause, number] => [refused(status), status]),
  [{ code: 'unreachable' }, 500],
  [{ code: 'over_call_limit' }, 500],
  [{ code: 'no_ports' }, 503],
  [{ code: 'draining' }, 503],
])('a caller receives %j as status %i', (cause, status) => {
  const sent = causeForCaller(cause)
  expect([sent.code, sipStatusOf(sent)]).toEqual([cause.code, status])
})
