import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutboundRig, type PlacedInvite } from '../testing/outbound-rig.ts'
import { testCarrier } from '../testing/test-carrier.ts'
import { InviteBudget, maxInvites } from './invite-budget.ts'

const timers = { expiresMs: 1_800_000, minMs: 90_000 }
const targets = (count: number) => Array.from({ length: count }, (_, i) => `sip:t${i}.example`)
const contacts = targets(5).map((target) => `<${target.replace('sip:', 'sip:1@')}>`)

/** Answers of a far side to the INVITE with number `n`, each of which may cause another INVITE. */
const answers = {
  'a growing Min-SE': (invite: PlacedInvite, n: number) =>
    invite.refuse(422, { 'Min-SE': String(2_000 + n) }),
  'a stale nonce': (invite: PlacedInvite, n: number) =>
    invite.refuse(401, { 'WWW-Authenticate': `Digest realm="r", nonce="${n}", stale=true` }),
  'a challenge of a proxy': (invite: PlacedInvite, n: number) =>
    invite.refuse(407, { 'Proxy-Authenticate': `Digest realm="r", nonce="${n}"` }),
  'a redirection to five places': (invite: PlacedInvite) =>
    invite.refuse(302, { Contact: contacts.join(', ') }),
  'a demand for encryption': (invite: PlacedInvite) => invite.refuse(488),
  'a failure of the server': (invite: PlacedInvite) => invite.refuse(503, { 'Retry-After': '1' }),
  'a request pending': (invite: PlacedInvite) => invite.refuse(491),
  'an unsupported extension': (invite: PlacedInvite) => invite.refuse(420, { Unsupported: 'timer' }),
  'an unsupported body': (invite: PlacedInvite) => invite.refuse(415, { Accept: 'text/plain' }),
  'an unknown call': (invite: PlacedInvite) => invite.refuse(481),
  'no connection': (invite: PlacedInvite) => invite.unreachable(503),
  'busy everywhere': (invite: PlacedInvite) => invite.refuse(600),
} as const
type Answer = keyof typeof answers

/** Dials, and answers the INVITEs by `course`, which repeats. Returns the number of INVITEs. */
const play = async (course: readonly (Answer | 'silence')[], places: number) => {
  const rig = new OutboundRig(
    [
      testCarrier({
        targets: targets(places),
        auth: { username: 'u', password: 'p' },
        srtp: 'optional',
        srtpWithoutTls: true,
        failover: { statuses: [401, 407, 420, 481, 491, 500, 503, 600], noProgressMs: 8_000 },
      }),
    ],
    true,
    timers,
  )
  const { leg } = await rig.dial('sip:1@t0.example')
  let sent = 0
  while (rig.waiting > 0 && sent < 4 * maxInvites) {
    const answer = course[sent % course.length] ?? 'silence'
    const invite = rig.next()
    sent++
    if (answer === 'silence') {
      rig.clock.advance(8_000)
      invite.refuse(487)
    } else answers[answer](invite, sent)
  }
  return { sent, leg, rig }
}

const all = Object.keys(answers) as Answer[]

describe(`one leg sends at most ${maxInvites} INVITEs, whatever the far side answers`, () => {
  it.each([...all, 'silence' as const])('if every answer is %s', async (answer) => {
    const { sent, leg, rig } = await play([answer], 16)
    expect(sent).toBeLessThanOrEqual(maxInvites)
    expect(leg.isEnded).toBe(true)
    expect(rig.left).toEqual([0, 0, 0, 0])
  })

  it('if answers are mixed in any order, and leaves nothing open', async () => {
    const course = fc.array(fc.constantFrom(...all, 'silence' as const), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(course, fc.integer({ min: 1, max: 16 }), async (steps, places) => {
        const { sent, leg, rig } = await play(steps, places)
        expect(sent).toBeLessThanOrEqual(maxInvites)
        expect(leg.isEnded).toBe(true)
        expect(rig.left).toEqual([0, 0, 0, 0])
      }),
      { numRuns: 300, seed: 12 },
    )
  })

  it('but reaches sixteen targets of which each challenges once', async () => {
    const { sent, leg } = await play(['a stale nonce', 'a failure of the server'], 16)
    expect([sent, leg.attempts.length]).toEqual([32, 16])
  })

  it('and logs that no more may be sent', async () => {
    const { sent, rig } = await play(['a stale nonce'], 16)
    expect(sent).toBe(maxInvites)
    expect(rig.logged).toContainEqual(
      expect.objectContaining({ msg: expect.stringContaining('maximum number') }),
    )
  })
})

it('and follows three rejections with a growing session interval, but no fourth', async () => {
  const { sent, leg } = await play(['a growing Min-SE'], 1)
  expect(sent).toBe(4)
  expect(leg.state).toMatchObject({ cause: { code: 'far_refused', sip: 422 } })
})

it('and counts down to zero', () => {
  const budget = new InviteBudget(2)
  expect([budget.take(), budget.take(), budget.take(), budget.isSpent]).toEqual([true, true, false, true])
})
