/** @schedule tones: listens for the tone of each participant of a conference. */

/**
 * Callers in conferences and queues: the sound of each one, and the callbacks to the customer's server, in
 * order.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { goertzel, sine } from '../../media/codecs/tone.ts'
import { application, scriptText, xmlText } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { samplesOf } from '../support/hearing.ts'
import { until } from '../support/until.ts'
import { wav } from '../support/wav.ts'

const one = 440
const other = 700
const third = 1000
const chime = 1300

let gateway: Gateway
let server: DocumentServer

beforeAll(async () => {
  server = await DocumentServer.open()
  server.put('/chime.wav', wav(sine(chime, 400, 8000, 8000), 8000))
  server.put('/callback', '<Response/>')
  const domains = ['one', 'other', 'third'].flatMap((name) => [
    application(`${name}.xml.test`, { kind: 'xml', url: server.urlOf(`/${name}`) }),
    application(`${name}.script.test`, { kind: 'script', url: server.urlOf(`/${name}`) }),
  ])
  gateway = await Gateway.start({ domains })
})
afterAll(async () => {
  await gateway?.stop()
  await server?.close()
})

/** Calls with a document and a tone of its own. `call` hangs up on request. */
const calls = async (name: string, document: string, tone: number, scenario = 'call'): Promise<Carrier> => {
  server.put(`/${name}`, document)
  const kind = document.startsWith('<') ? 'xml' : 'script'
  const carrier = await Carrier.calls(gateway, { domain: `${name}.${kind}.test`, scenario, holdMs: 'manual' })
  await carrier.talks('answered', tone)
  return carrier
}

/**
 * Waits until exactly these tones are heard together, about equally loud. No tones: other sound, such as
 * music.
 */
const hears = async ({ media }: Carrier, ...tones: readonly number[]): Promise<void> => {
  const all = [one, other, third, chime]
  const shares = () => {
    const samples = samplesOf(media.packets.slice(-15))
    return samples.length < 2000 ? [] : all.map((tone) => goertzel(samples, tone))
  }
  const isThere = (share: number, tone: number | undefined) =>
    tones.includes(tone ?? 0) ? share > 0.6 / tones.length : share < 0.05
  await until(
    `${tones} are heard`,
    shares,
    (found) => found.length > 0 && found.every((share, index) => isThere(share, all[index])),
  )
}

/** Waits until the waiting music is heard: loud, and none of the tones. */
const hearsMusic = async (carrier: Carrier): Promise<void> => {
  await carrier.hearsVoice()
  await hears(carrier)
}

const over = async (...carriers: readonly Carrier[]): Promise<void> => {
  for (const carrier of carriers) await carrier.done()
  await gateway.settled()
  await until(
    'every callback has arrived',
    () => gateway.metric('callbacks_waiting'),
    (waiting) => waiting === 0,
  )
  for (const carrier of carriers) {
    const { call, code } = await gateway.record(carrier.callId)
    expect(code).toBe('normal')
    expect(gateway.log.filter((line) => line.call === call && line.level >= 40)).toEqual([])
  }
}

/** Returns the call id in a caller's document request. */
const callSidOf = (name: string): string => {
  const { fields, body } = server.asked(`/${name}`).at(-1)!
  return fields.CallSid ?? JSON.parse(body).call.call_id
}

it('a conference plays music before it begins; each participant hears all others except muted ones', async () => {
  const events = 'statusCallbackEvent="start end join leave mute"'
  const first = await calls(
    'one',
    xmlText(`<Dial><Conference beep="false" statusCallback="callback" ${events}>meeting</Conference></Dial>`),
    one,
  )
  await hearsMusic(first)
  const second = await calls(
    'other',
    scriptText({ join_conference: { name: 'meeting', beep: false } }),
    other,
  )
  await hears(first, other)
  await hears(second, one)
  const muted = await calls(
    'third',
    xmlText('<Dial><Conference muted="true" beep="false">meeting</Conference></Dial>'),
    third,
  )
  await hears(muted, one, other)
  await hears(first, other)
  await hears(second, one)
  await second.goesOn()
  await hears(muted, one)
  await first.goesOn()
  await until('two have left', () => server.asked('/callback').length === 6)
  await muted.goesOn()
  await over(first, second, muted)
  const ids = ['one', 'other', 'third'].map(callSidOf)
  const said = server.asked('/callback').map(({ fields }) => fields)
  expect(said.map(({ StatusCallbackEvent, CallSid }) => [StatusCallbackEvent, CallSid])).toEqual([
    ['participant-join', ids[0]],
    ['participant-join', ids[1]],
    ['conference-start', undefined],
    ['participant-join', ids[2]],
    ['participant-leave', ids[1]],
    ['participant-leave', ids[0]],
    ['participant-leave', ids[2]],
    ['conference-end', undefined],
  ])
  // Events without a subscription, such as speaker events, also use up sequence numbers.
  const numbers = said.map(({ SequenceNumber }) => Number(SequenceNumber))
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
  expect(numbers.slice(0, 3)).toEqual([0, 1, 2])
  expect(
    new Set(said.map(({ ConferenceSid, FriendlyName }) => `${ConferenceSid} ${FriendlyName}`)).size,
  ).toBe(1)
})

it('a queue plays music to a caller, then a notice, then connects an agent; the action’s document runs afterwards', async () => {
  server.requests.length = 0
  server.put('/notice', xmlText(`<Play>${server.urlOf('/chime.wav')}</Play>`))
  server.put('/after', xmlText('<Pause length="60"/>'))
  const caller = await calls('one', xmlText('<Enqueue action="after">support</Enqueue>'), one)
  await hearsMusic(caller)
  const agent = await calls(
    'other',
    xmlText('<Dial action="callback"><Queue url="notice">support</Queue></Dial>', '<Hangup/>'),
    other,
    'caller-released',
  )
  await hears(caller, chime)
  await hears(caller, other)
  await hears(agent, one)
  await caller.goesOn()
  await over(caller, agent)
  const [notice] = server.asked('/notice')
  const [after] = server.asked('/after')
  const [dialled] = server.asked('/callback')
  expect(notice?.fields).toMatchObject({ CallSid: callSidOf('one'), DequeingCallSid: callSidOf('other') })
  expect(after?.fields).toMatchObject({ CallSid: callSidOf('one'), QueueResult: 'bridged' })
  expect(dialled?.fields).toMatchObject({ CallSid: callSidOf('other'), DialCallStatus: 'completed' })
  expect(dialled?.fields.DialCallSid).toBe(callSidOf('one'))
})

it('an agent of a script queue gets the longest-waiting caller, who continues when the agent hangs up', async () => {
  server.requests.length = 0
  const status_url = server.urlOf('/callback')
  const waits = scriptText({
    enter_queue: {
      queue_name: 'sales',
      wait_url: server.urlOf('/chime.wav'),
      status_url,
      transfer_after_bridge: scriptText({ play: { url: server.urlOf('/chime.wav') } }),
    },
  })
  const first = await calls('one', waits, one, 'caller-released')
  await hears(first, chime)
  const second = await calls('third', waits, third)
  await hears(second, chime)
  const agent = await calls(
    'other',
    scriptText({ connect: { to: 'queue:sales', transfer_after_bridge: scriptText('hangup') } }),
    other,
  )
  await hears(first, other)
  await hears(agent, one)
  await hears(second, chime)
  await agent.goesOn()
  await hears(first, chime)
  await second.goesOn()
  await over(first, second, agent)
  const received = server.asked('/callback').map(({ body }) => JSON.parse(body).params)
  const one_ = callSidOf('one')
  const third_ = callSidOf('third')
  const of = (id: string) =>
    received
      .filter(({ call_id }) => call_id === id)
      .map(({ status, position, size }) => [status, position, size])
  expect(of(one_)).toEqual([
    ['enqueue', 1, 1],
    ['dequeue', 1, 1],
  ])
  expect(of(third_)).toEqual([
    ['enqueue', 2, 2],
    ['leave', 1, 0],
  ])
})
