import pino from 'pino'
import { expect, it } from 'vitest'
import type { Headers, SipDialog } from '../srf.ts'
import { FakeDialog, farResponse } from '../testing/fake-srf.ts'
import { answeringChallenges, credentialsInside } from './dialog-digest.ts'

type Options = Parameters<SipDialog['request']>[0]
type Callback = Parameters<SipDialog['request']>[1]

/** A dialog whose requests the test answers. */
class Asked extends FakeDialog {
  readonly asked: { options: Options; callback: Callback }[] = []
  override request(...[options, callback]: [Options, Callback]): void {
    this.asked.push({ options, callback })
  }

  answer(status: number, headers: Headers = {}): void {
    this.asked.at(-1)!.callback(null, {
      ...farResponse(status, undefined, headers),
      req: { uri: 'sip:target@192.0.2.9:5070' },
    })
  }
}
const log = pino({ level: 'silent' })
const credentials = { username: 'u', password: 'p', realms: ['carrier'] }
const challenge = { 'Proxy-Authenticate': 'Digest realm="carrier", nonce="n", qop="auth"' }

it.each(['INFO', 'INVITE', 'UPDATE', 'REFER'])(
  'a challenged %s is repeated with credentials, for its real request-URI',
  (method) => {
    const dialog = new Asked()
    const statuses: unknown[] = []
    answeringChallenges(dialog, credentials, log).request(
      { method, headers: { 'X-A': '1' }, body: 'b' },
      (_error, response) => statuses.push(response?.status),
    )
    dialog.answer(407, challenge)
    expect(dialog.asked[1]?.options).toMatchObject({ method, body: 'b', headers: { 'X-A': '1' } })
    expect(dialog.asked[1]?.options.headers?.['Proxy-Authorization']).toContain(
      'uri="sip:target@192.0.2.9:5070"',
    )
    dialog.answer(200)
    expect(statuses).toEqual([200])
  },
)

it('a challenged BYE is repeated with credentials, so that the call ends at the carrier', () => {
  const dialog = new Asked()
  const ended: unknown[] = []
  answeringChallenges(dialog, credentials, log).destroy({ headers: { Reason: 'r' } }, (error) =>
    ended.push(error),
  )
  dialog.answer(407, challenge)
  expect(dialog.asked[1]?.options).toMatchObject({ method: 'BYE', headers: { Reason: 'r' } })
  expect(ended).toEqual([])
  dialog.answer(200)
  expect(ended).toEqual([null])
})

it('drachtio-srf forgets a dialog that the agent no longer knows', () => {
  const dialog = new Asked()
  const ended: unknown[] = []
  answeringChallenges(dialog, credentials, log).destroy({}, (error) => ended.push(error))
  dialog.asked[0]!.callback(new Error('unable to find dialog'))
  expect([dialog.byes.length, ended]).toEqual([1, []])
  dialog.byes[0]!(new Error('gone'))
  expect(ended).toHaveLength(1)
})

it('a challenge without credentials, and a second challenge, are passed on', () => {
  const dialog = new Asked()
  const statuses: unknown[] = []
  const guarded = answeringChallenges(dialog, credentials, log)
  const ask = () => guarded.request({ method: 'INFO' }, (_error, response) => statuses.push(response?.status))
  ask()
  dialog.answer(401, { 'WWW-Authenticate': 'Digest realm="elsewhere", nonce="n"' })
  ask()
  dialog.answer(407, challenge)
  dialog.answer(407, challenge)
  expect(statuses).toEqual([401, 407])
})

it('all other members of the dialog stay unchanged', () => {
  const dialog = new FakeDialog('sdp')
  const guarded = answeringChallenges(dialog, credentials, log)
  const heard: unknown[] = []
  guarded.on('ack', () => heard.push('ack'))
  dialog.emit('ack')
  guarded.local.sdp = 'new'
  expect([heard, dialog.local.sdp, guarded.id, guarded.remote.sdp]).toEqual([['ack'], 'new', 'dialog', 'sdp'])
  expect(answeringChallenges(dialog, undefined, log)).toBe(dialog)
})

it.each<
  [string, Parameters<typeof credentialsInside>[0], string | undefined, readonly string[] | undefined | null]
>([
  ['no credentials', { credentials: undefined, realms: [], host: 'a' }, 'sip:x@a', null],
  [
    'the realms of the INVITE',
    { credentials: { username: 'u', password: 'p' }, realms: ['r'], host: 'a' },
    'sip:x@b',
    ['r'],
  ],
  ['the realm of the configuration', { credentials, realms: [], host: 'a' }, 'sip:x@b', ['carrier']],
  [
    'any realm at the host that was called',
    { credentials: { username: 'u', password: 'p' }, realms: [], host: 'a' },
    'sip:x@a:5070',
    undefined,
  ],
  [
    'nothing at another host',
    { credentials: { username: 'u', password: 'p' }, realms: [], host: 'a' },
    'sip:x@b',
    null,
  ],
  [
    'nothing at an unknown host',
    { credentials: { username: 'u', password: 'p' }, realms: [], host: 'a' },
    undefined,
    null,
  ],
])('inside a dialog they are for %s', (_what, trust, target, realms) => {
  const inside = credentialsInside(trust, target)
  expect(inside ? inside.realms : null).toEqual(realms)
})
