/** @schedule tones first: listens for tones and speech, and waits for the silence of callees. */

/** Detection of answering machines, people, faxes and silence, by scripts and applications. */
import { SignalWire, type Voice } from 'realtime-api-4'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  joined,
  prepare,
  quiet,
  reversing,
  speech,
  talk,
  tone,
} from '../../media/detect/testing/detection-sounds.ts'
import { application, script } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const apiToken = 'token-of-the-scenario'

let gateway: Gateway
let documents: DocumentServer

beforeAll(async () => {
  documents = await DocumentServer.open()
  const url = documents.urlOf('/detect')
  gateway = await Gateway.start({
    domains: [
      application('detect.test', { kind: 'script', url }),
      application('office.test', { kind: 'realtime', topic: 'office' }),
    ],
    http: { apiToken },
  })
  for (const path of ['/callback', '/result']) documents.put(path, '{}')
})

afterEach(() => gateway.settled())

afterAll(async () => {
  await gateway?.stop()
  await documents?.close()
})

/** Tone of a calling fax and its pause (ITU-T T.30). Faxes repeat it until they are answered. */
const cng = [tone(1100, 500), quiet(3000)]

/** Calls a domain whose script runs `detect_machine` and sends the result to the server. */
const listenedTo = async (parameters: object, scenario = 'caller-released', holdMs = 0): Promise<Carrier> => {
  documents.requests.length = 0
  const detect_machine = { status_url: documents.urlOf('/callback'), ...parameters }
  const body = { result: '%{detect_result}', beep: '%{detect_machine_beep}', ms: '%{detect_ms}' }
  const request = { url: documents.urlOf('/result'), method: 'POST', body }
  documents.put('/detect', JSON.stringify(script({ detect_machine }, { request }, 'hangup')))
  const carrier = await Carrier.calls(gateway, { domain: 'detect.test', scenario, holdMs })
  await carrier.talks('answered', 0)
  return carrier
}

/** Waits for the result that the script sends at its end. */
const result = async () => {
  const request = await until('the result', () => documents.asked('/result')[0])
  const { result, beep, ms } = JSON.parse(request?.body ?? '')
  return { result, beep: String(beep), ms: Number(ms) }
}

/** Waits for the final event, and returns all events. */
const received = async () => {
  const events = () =>
    documents
      .asked('/callback')
      .map(({ body }) => JSON.parse(body).params.detect as { params: { event: string } })
  const all = await until('the last event', events, (some) => some.at(-1)?.params.event === 'finished')
  return all.map(({ params }) => params)
}

describe('detect_machine', () => {
  it('detects a machine by its long greeting, and waits for the beep', async () => {
    const before = await gateway.metric('detections_total', { result: 'machine' })
    const carrier = await listenedTo({ detect_message_end: true })
    carrier.media.say(joined([quiet(400), talk(2500), quiet(300), tone(1000, 400)]))
    expect(await result()).toMatchObject({ result: 'machine', beep: 'true' })
    expect(await received()).toEqual([
      { event: 'MACHINE' },
      { event: 'READY', beep: true },
      { event: 'finished' },
    ])
    await carrier.done()
    expect(await gateway.metric('detections_total', { result: 'machine' })).toBe(before + 1)
  })

  it('reports a machine without a beep as ready after silence, and as not ready when it speaks again', async () => {
    const carrier = await listenedTo({ detect_message_end: true, machine_ready_timeout: 1 })
    // The silence is half a second longer than the timeout, and half a second shorter than twice the timeout.
    carrier.media.say(joined([quiet(400), talk(1800), quiet(1500), talk(1000)]))
    expect(await result()).toMatchObject({ result: 'machine', beep: 'false' })
    const ready = { event: 'READY', beep: false }
    expect(await received()).toEqual([
      { event: 'MACHINE' },
      ready,
      { event: 'NOT_READY' },
      ready,
      { event: 'finished' },
    ])
    await carrier.done()
  })

  it('detects a person by a short greeting', async () => {
    const carrier = await listenedTo({})
    carrier.media.say(joined([quiet(400), talk(500)]))
    const { result: who, ms } = await result()
    expect(who).toBe('human')
    expect(ms).toBeGreaterThan(1800)
    expect(await received()).toEqual([{ event: 'HUMAN' }, { event: 'finished' }])
    await carrier.done()
  })

  it.each([
    ['CED', joined([quiet(500), reversing(2600)])],
    // A busy machine may break tones. Two whole ones in a row are enough, within the timeout of 30 s.
    ['CNG', joined([quiet(300), ...Array.from({ length: 8 }, () => cng).flat()])],
  ])('detects a fax by its %s tone', async (name, sound) => {
    const carrier = await listenedTo({ tone: name })
    carrier.media.say(sound)
    expect(await result()).toMatchObject({ result: 'fax' })
    expect(await received()).toEqual([{ event: name }, { event: 'finished' }])
    await carrier.done()
  })

  it('reports unknown for a silent callee, and for a steady tone after the timeout', async () => {
    const silent = await listenedTo({ initial_timeout: 1 })
    expect(await result()).toMatchObject({ result: 'unknown' })
    expect(await received()).toEqual([{ event: 'UNKNOWN' }, { event: 'finished' }])
    await silent.done()
    const beeping = await listenedTo({ detectors: 'fax', timeout: 2 })
    beeping.media.tone(1000)
    expect(await result()).toMatchObject({ result: 'unknown' })
    expect(await received()).toEqual([{ event: 'finished' }])
    await beeping.done()
  })

  it('ends when the caller hangs up during the detection', async () => {
    const carrier = await listenedTo({ initial_timeout: 30 }, 'caller', 1000)
    await carrier.done()
    expect(await received()).toEqual([{ event: 'finished' }])
    expect(documents.asked('/result')).toEqual([])
  })
})

describe('a realtime application', () => {
  /** Calls the realtime application, which answers. */
  const answered = async () => {
    const host = `ws://127.0.0.1:${gateway.httpPort}`
    const client = await SignalWire({ project: 'default', token: apiToken, host, logLevel: 'silent' })
    onTestFinished(() => void client.disconnect())
    const calls: Voice.Call[] = []
    await client.voice.listen({ topics: ['office'], onCallReceived: (call) => void calls.push(call) })
    const carrier = await Carrier.calls(gateway, { domain: 'office.test', scenario: 'caller-released' })
    const call = (await until('a call is received', () => calls[0])) as Voice.Call
    await call.answer()
    await carrier.talks('answered', 0)
    return { call, carrier }
  }

  it('receives the detection of a machine with synthesised speech, and of its beep', async () => {
    const text = 'Hello, this is the office. We are not here. Please leave a message after the tone.'
    const [greeting = quiet(0)] = await prepare(speech(text, 'rms'))
    const { call, carrier } = await answered()
    const results: unknown[] = []
    const listen = { onUpdated: ({ result }: { result: unknown }) => void results.push(result) }
    const detecting = call.amd({ listen })
    await detecting.onStarted()
    carrier.media.say(joined([greeting, quiet(500), tone(1400, 250)]))
    expect((await detecting).result).toBe('READY')
    expect(results).toEqual(['MACHINE', 'READY'])
    await call.hangup()
    await carrier.done()
  })

  it('receives a digit that arrives as DTMF tones in the audio', async () => {
    const { call, carrier } = await answered()
    const detecting = call.detectDigit({ digits: '5', timeout: 20 })
    await detecting.onStarted()
    carrier.media.say(joined([quiet(200), tone([770, 1336], 120, -12), quiet(200)]))
    expect((await detecting).result).toBe('5')
    await call.hangup()
    await carrier.done()
  })
})
