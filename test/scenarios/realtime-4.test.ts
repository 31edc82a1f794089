/** The published realtime client 4.2.1, unmodified, as a customer's application. */
import { SignalWire, Voice } from 'realtime-api-4'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { TestVoskServer } from '../../gateway/speech/testing/vosk-server.ts'
import { TestStreamServer } from '../../gateway/streams/testing/stream-server.ts'
import { freePort } from '../../media/testing/free-ports.ts'
import { application } from '../support/applications.ts'
import { Carrier, type IncomingOptions } from '../support/carrier.ts'
import { CutLine } from '../support/cut-line.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const apiToken = 'token-of-the-scenario'
const tone = 440

let gateway: Gateway
/** Port of the default carrier. */
let carrierPort: number
let tapped: TestStreamServer
let recogniser: TestVoskServer

beforeAll(async () => {
  tapped = await TestStreamServer.open()
  recogniser = await TestVoskServer.open()
  carrierPort = await freePort()
  gateway = await Gateway.start({
    carriers: [{ name: 'acme', targets: [`sip:127.0.0.1:${carrierPort}`], default: true }],
    domains: [application('office.test', { kind: 'realtime', topic: 'office' })],
    http: { apiToken },
    media: { speech: { recogniser: { url: recogniser.url, sampleRate: 8000 } } },
  })
})
afterEach(() => gateway.settled())
afterAll(async () => {
  await gateway?.stop()
  await tapped?.close()
  await recogniser?.close()
})

type Client = Awaited<ReturnType<typeof SignalWire>>

const connect = async (token = apiToken, more: object = {}, port = gateway.httpPort): Promise<Client> => {
  const host = `ws://127.0.0.1:${port}`
  const client = await SignalWire({ project: 'default', token, host, logLevel: 'silent', ...more })
  onTestFinished(() => void client.disconnect())
  return client
}

/** A client that listens, and the calls that it receives, in order. */
const listener = async (port?: number): Promise<{ client: Client; next: () => Promise<Voice.Call> }> => {
  const client = await connect(apiToken, {}, port)
  const calls: Voice.Call[] = []
  await client.voice.listen({ topics: ['office'], onCallReceived: (call) => void calls.push(call) })
  const next = () => until('a call is received', () => calls.shift()) as Promise<Voice.Call>
  return { client, next }
}

/** A call that the application has answered; the far side talks. */
const answered = async (
  scenario = 'caller-released',
  holdMs: IncomingOptions['holdMs'] = 0,
  port?: number,
) => {
  const { client, next } = await listener(port)
  const carrier = await Carrier.calls(gateway, { domain: 'office.test', scenario, holdMs })
  const call = await next()
  await call.answer()
  await carrier.talks('answered', tone)
  return { client, call, carrier }
}

describe('an inbound call', () => {
  it('is reported with its caller and headers, answered, spoken to and hung up', async () => {
    const { next } = await listener()
    const carrier = await Carrier.calls(gateway, { domain: 'office.test', scenario: 'caller-released' })
    const call = await next()
    expect([call.from, call.to, call.type, call.direction, call.state, call.context]).toEqual([
      'sip:+15551230001@carrier.test',
      'sip:+15550002222@office.test',
      'sip',
      'inbound',
      'created',
      'office',
    ])
    expect(carrier.sipp.events).not.toContainEqual(expect.stringContaining('answered'))
    expect((await call.answer()).state).toBe('answered')
    await carrier.talks('answered', tone)
    const playback = call.playTTS({ text: 'Welcome to the office.' })
    await carrier.hearsVoice()
    expect((await playback).state).toBe('finished')
    await call.hangup()
    expect(call.state).toBe('ended')
    await carrier.done()
  })

  it('is offered to the next client when the first passes it', async () => {
    const first = await listener()
    const second = await listener()
    const carrier = await Carrier.calls(gateway, { domain: 'office.test', scenario: 'caller-released' })
    // The gateway chooses the first listener. The other one's call is awaited once: a second wait could lose
    // it to the first.
    const received = [first.next(), second.next()]
    const { call, by } = await Promise.race(received.map(async (next, by) => ({ call: await next, by })))
    await call.pass()
    const again = (await received[1 - by])!
    expect(again.id).toBe(call.id)
    await again.answer()
    await again.hangup()
    await carrier.done()
  })

  it('is rejected with 480 if no client listens', async () => {
    await connect()
    const carrier = await Carrier.calls(gateway, {
      domain: 'office.test',
      scenario: 'caller-refused',
      values: { status: 480 },
    })
    await carrier.done()
    await gateway.refusal('no_application')
  })

  it('ends when the caller gives up', async () => {
    const { next } = await listener()
    const carrier = await Carrier.calls(gateway, {
      domain: 'office.test',
      scenario: 'caller-cancels',
      holdMs: 300,
    })
    const call = await next()
    expect(await call.waitFor('ended')).toBe(true)
    await carrier.done()
  })

  it('is rejected with the application’s reason', async () => {
    const { next } = await listener()
    const carrier = await Carrier.calls(gateway, {
      domain: 'office.test',
      scenario: 'caller-refused',
      values: { status: 486 },
    })
    await (await next()).hangup('busy')
    await carrier.done()
  })

  it('settles every promise when the far side hangs up', async () => {
    const { call, carrier } = await answered('caller', 'manual')
    const playing = call.playTTS({ text: 'one two three four five six seven eight nine ten. '.repeat(4) })
    const collecting = call.collect({ digits: { max: 3, digitTimeout: 20 }, initialTimeout: 30 })
    const over = call.waitFor('ended')
    await carrier.hearsVoice()
    await carrier.goesOn()
    const [played, collected] = await Promise.all([playing, collecting])
    expect([played.state, collected.digits]).toEqual(['finished', ''])
    expect(await over).toBe(true)
    await carrier.done()
  })
})

describe('an answered call', () => {
  it('joins a room, in which the application sees and mutes it, and goes on after the room', async () => {
    const { client, call, carrier } = await answered()
    // This version has no method for these requests; the newer server SDKs do.
    const ask = (method: string, more: object = {}) => {
      const params = { node_id: call.nodeId, call_id: call.id, ...more }
      return client.client.execute({ method: method as 'calling.answer', params })
    }
    const heard: string[] = []
    const note = (name: string) => () => void heard.push(name)
    await client.video.listen({ onRoomStarted: note('started'), onRoomEnded: note('ended') })
    await ask('calling.join_room', { name: 'lounge' })
    await expect.poll(() => heard).toEqual(['started'])
    const [room] = (await client.video.getRoomSessions()).roomSessions
    await room!.listen({ onMemberAudioMuted: note('muted'), onMemberTalkingStarted: note('talking') })
    const [member] = (await room!.getMembers()).members
    expect([room!.name, member!.type]).toEqual(['lounge', 'member'])
    await expect.poll(() => heard).toContain('talking')
    await room!.audioMute({ memberId: member!.id })
    await expect.poll(() => heard).toContain('muted')
    await ask('calling.leave_room')
    await expect.poll(() => heard.at(-1)).toBe('ended')
    expect((await client.video.getRoomSessions()).roomSessions).toEqual([])
    await call.playTTS({ text: 'Goodbye.' })
    await call.hangup()
    await carrier.done()
  })

  it('can pause, resume and stop a sound, and change its volume', async () => {
    const { call, carrier } = await answered()
    const playback = await call.playRingtone({ name: 'us', duration: 30 }).onStarted()
    await until(
      'a tone is heard',
      () => carrier.media.packets.length,
      (count) => count > 30,
    )
    await playback.pause()
    expect(playback.state).toBe('paused')
    await playback.resume()
    await playback.setVolume(-6)
    await playback.stop()
    expect((await playback.ended()).state).toBe('finished')
    await call.hangup()
    await carrier.done()
  })

  it('reports the end of a sound that does not exist', async () => {
    const { call, carrier } = await answered()
    // The client would wait for ever for a playback that starts and then fails, so the gateway reports its
    // end.
    const playback = await call.playAudio({ url: `${gateway.url}/nothing.wav` })
    expect(playback.state).toBe('finished')
    await call.hangup()
    await carrier.done()
  })

  it('can be recorded, and the recording can be fetched', async () => {
    const { call, carrier } = await answered()
    const recording = await call.recordAudio({ beep: false, endSilenceTimeout: 0 }).onStarted()
    expect(recording.state).toBe('recording')
    await recording.pause({ behavior: 'skip' })
    await recording.resume()
    await call.playSilence({ duration: 0.5 })
    await recording.stop()
    const ended = await recording.ended()
    expect([ended.state, ended.size! > 44]).toEqual(['finished', true])
    const answer = await fetch(ended.url!)
    expect(answer.headers.get('content-type')).toBe('audio/wav')
    await call.hangup()
    await carrier.done()
  })

  it('collects digits with and without a prompt, and no digits from silence', async () => {
    const { call, carrier } = await answered()
    const prompting = call.promptTTS({ text: 'Your number please.', digits: { max: 4, terminators: '#' } })
    await carrier.hearsVoice()
    carrier.media.press('12#')
    const prompt = await prompting
    expect([prompt.type, prompt.digits, prompt.terminator]).toEqual(['digit', '12', '#'])
    const collecting = call.collect({ digits: { max: 2 } })
    carrier.media.press('34')
    expect((await collecting).digits).toBe('34')
    const silent = await call.collect({ digits: { max: 2 }, initialTimeout: 0.5, startInputTimers: true })
    expect(silent.digits).toBe('')
    await call.hangup()
    await carrier.done()
  })

  it('collects speech with partial results', async () => {
    const { call, carrier } = await answered()
    const parts: (string | undefined)[] = []
    const collecting = call.collect({
      speech: { language: 'de-DE' },
      partialResults: true,
      startInputTimers: true,
      listen: { onUpdated: ({ text }) => void parts.push(text) },
    })
    const session = await until('the recogniser is asked', () => recogniser.sessions[0])
    session?.send({ partial: 'guten' })
    await until('a part is reported', () => parts.length)
    session?.send({ text: 'guten tag', result: [{ conf: 0.75, word: 'guten' }] })
    const { type, text, confidence } = await collecting
    expect([type, text, confidence, parts[0]]).toEqual(['speech', 'guten tag', 75, 'guten'])
    await call.hangup()
    await carrier.done()
  })

  it('collects digits continuously until stopped', async () => {
    const { call, carrier } = await answered()
    const found: (string | undefined)[] = []
    const collecting = await call
      .collect({
        digits: { max: 1 },
        continuous: true,
        listen: { onUpdated: ({ digits }) => void found.push(digits) },
      })
      .onStarted()
    for (const [i, digit] of ['1', '2'].entries()) {
      carrier.media.press(digit)
      await until('it is reported', () => found.length > i)
    }
    await collecting.stop()
    expect([...found, (await collecting.ended()).digits]).toEqual(['1', '2', ''])
    await call.hangup()
    await carrier.done()
  })

  it('sends digits', async () => {
    const { call, carrier } = await answered()
    await call.sendDigits('1w2#')
    await carrier.receivesDigits('12#')
    await call.hangup()
    await carrier.done()
  })

  it('sends its audio to a tap', async () => {
    const { call, carrier } = await answered()
    const tap = await call
      .tapAudio({ direction: 'speak', device: { type: 'ws', uri: tapped.url } })
      .onStarted()
    await until(
      'audio is tapped',
      () => tapped.of('media').length,
      (count) => count > 20,
    )
    await tap.stop()
    expect((await tap.ended()).state).toBe('finished')
    await call.hangup()
    await carrier.done()
  })

  it('detects a digit', async () => {
    const { call, carrier } = await answered()
    const detecting = call.detectDigit({ digits: '5', timeout: 20 })
    await detecting.onStarted()
    carrier.media.press('5')
    expect(await detecting).toMatchObject({ type: 'digit', result: '5' })
    await call.hangup()
    await carrier.done()
  })

  it('detects a fax by its tone, and ends machine detection at its timeout', async () => {
    const { call, carrier } = await answered()
    expect(await call.amd({ initialTimeout: 0.3, timeout: 2 })).toMatchObject({ type: 'machine' })
    const detecting = call.detectFax({ tone: 'CED', timeout: 20 })
    carrier.media.tone(2100)
    expect(await detecting).toMatchObject({ type: 'fax', result: 'CED' })
    await call.hangup()
    await carrier.done()
  })

  it('can be connected to a third party and disconnected again', async () => {
    const { call, carrier } = await answered()
    const callee = await Carrier.listens({ scenario: 'callee' })
    const busy = await Carrier.listens({ scenario: 'callee-refuses', values: { status: 486 } })
    const sip = (to: string) => Voice.DeviceBuilder.Sip({ from: 'sip:me@office.test', to, timeout: 10 })
    const peer = await call.connect(new Voice.DeviceBuilder().add(sip(busy.uri)).add(sip(callee.uri)))
    await busy.done()
    expect([peer.state, call.peer?.id]).toEqual(['answered', peer.id])
    await callee.talks('invited', 700)
    await carrier.hears(700)
    await callee.hears(tone)
    const parted = peer.waitFor('ended')
    await call.disconnect()
    expect(await parted).toBe(true)
    await callee.done()
    const playing = call.playTTS({ text: 'You are back.' })
    expect((await playing).state).toBe('finished')
    await call.hangup()
    await carrier.done()
  })

  it('reports the reason when the third party cannot be connected', async () => {
    const { call, carrier } = await answered()
    const callee = await Carrier.listens({ scenario: 'callee-refuses', values: { status: 486 } })
    const failed = await call.connectSip({ from: 'sip:me@office.test', to: callee.uri }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failed).toMatchObject({ connectState: 'failed', failedReason: 'busy' })
    await callee.done()
    await call.hangup()
    await carrier.done()
  })
})

describe('an outbound call of the application', () => {
  it('resolves with a call when the callee answers', async () => {
    const client = await connect()
    const carrier = await Carrier.listens({ scenario: 'callee' })
    const call = await client.voice.dialSip({ from: 'sip:me@office.test', to: carrier.uri, timeout: 10 })
    expect([call.state, call.direction, call.to]).toEqual(['answered', 'outbound', carrier.uri])
    await carrier.talks('invited', tone)
    const playing = call.playTTS({ text: 'This is the office calling.' })
    await carrier.hearsVoice()
    await playing
    await call.hangup()
    await carrier.done()
  })

  it('tries several callees, in parallel and in series', async () => {
    const client = await connect()
    const busy = await Carrier.listens({ scenario: 'callee-refuses', values: { status: 486 } })
    const silent = await Carrier.listens({ scenario: 'callee-silent' })
    const callee = await Carrier.listens({ scenario: 'callee', holdMs: 500 })
    const sip = (to: string) => Voice.DeviceBuilder.Sip({ from: 'sip:me@office.test', to, timeout: 10 })
    const devices = new Voice.DeviceBuilder().add(sip(busy.uri)).add([sip(silent.uri), sip(callee.uri)])
    // The package takes a builder itself; its types do not say so.
    const call = await client.voice.dial(devices as never)
    expect(call.to).toBe(callee.uri)
    await Promise.all([busy.done(), silent.done()])
    await call.hangup()
    await callee.done()
  })

  it('reaches a number through the default carrier', async () => {
    const client = await connect()
    const carrier = await Carrier.listens({ scenario: 'callee', port: carrierPort })
    const call = await client.voice.dialPhone({ from: '+15550001111', to: '+15550003333', timeout: 10 })
    expect([call.type, call.from, call.to]).toEqual(['phone', '+15550001111', '+15550003333'])
    expect(carrier.sipp.received('INVITE')[0]).toContain('sip:+15550003333@')
    await call.hangup()
    await carrier.done()
  })

  it('rejects with the reason after its timeout and for a busy callee', async () => {
    const client = await connect()
    const carrier = await Carrier.listens({ scenario: 'callee-silent' })
    const dialling = client.voice.dialSip({ from: 'sip:me@office.test', to: carrier.uri, timeout: 1 })
    await expect(dialling).rejects.toMatchObject({ dialState: 'failed', reason: 'noAnswer' })
    await carrier.done()
    const busy = await Carrier.listens({ scenario: 'callee-refuses', values: { status: 486 } })
    const again = client.voice.dialSip({ from: 'sip:me@office.test', to: busy.uri })
    await expect(again).rejects.toMatchObject({ reason: 'busy' })
    await busy.done()
  })

  it('rejects at once for an invalid destination', async () => {
    const client = await connect()
    const dialling = client.voice.dialSip({ from: 'sip:me@office.test', to: '' })
    await expect(dialling).rejects.toMatchObject({ code: '400' })
  })
})

it('the client reconnects after a lost connection, and the call continues', async () => {
  const line = await CutLine.to(gateway.httpPort)
  const { call, carrier } = await answered('caller-released', 0, line.port)
  line.cut()
  await until('the client is connected again', () => line.connections === 2)
  await call.playTTS({ text: 'Still here.' })
  await call.hangup()
  await carrier.done()
})

it('a client with a wrong token receives an authentication error', async () => {
  const received = Promise.withResolvers<unknown>()
  await connect('wrong', { listen: { onAuthError: (error: unknown) => received.resolve(error) } })
  expect(await received.promise).toMatchObject({ code: -32002 })
  expect(await gateway.metric('rejections_total', { code: 'unauthorized' })).toBeGreaterThan(0)
})
