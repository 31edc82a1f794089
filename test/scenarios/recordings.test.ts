/** @schedule tones: measures the length and the tones of recordings. */

import { MPEGDecoder } from 'mpg123-decoder'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { application, script, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { DocumentServer } from '../support/documents.ts'
import { Gateway } from '../support/gateway.ts'
import { samplesOf } from '../support/hearing.ts'
import { piecesIn, sameShare, sweep } from '../support/likeness.ts'
import { apiToken, fetchWav, recordingOf, recordingStarts, toneMs } from '../support/recorded.ts'
import { until } from '../support/until.ts'
import { wav } from '../support/wav.ts'

const callerTone = 440
const calleeTone = 1000
/** Sounds of the caller and of the gateway for comparisons sample by sample; silence follows. */
const said = sweep(300, 3000, 2000)
const played = sweep(2900, 400, 2000)
const followedBySilence = (samples: Int16Array, ms: number): Int16Array => {
  const longer = new Int16Array(samples.length + ms * 8)
  longer.set(samples)
  return longer
}

let gateway: Gateway
let documents: DocumentServer

beforeAll(async () => {
  documents = await DocumentServer.open()
  const url = documents.put('/played.wav', wav(followedBySilence(played, 2000), 8000))
  gateway = await Gateway.start({
    domains: [
      application(
        'voicemail.test',
        scripted({ record: { terminators: '#', end_silence_timeout: 0 } }, 'hangup'),
      ),
      application('bridged.test', { kind: 'script', url: documents.urlOf('/bridged') }),
      application('announced.test', scripted({ record_call: { stereo: true } }, { play: { url } }, 'hangup')),
      application('mp3.test', scripted({ record: { format: 'mp3', end_silence_timeout: 1 } }, 'hangup')),
      application('letter.test', { kind: 'xml', url: documents.urlOf('/letter') }),
    ],
    http: { apiToken },
  })
})

afterAll(async () => {
  await gateway?.settled()
  await gateway?.stop()
  await documents?.close()
})

describe('the recording of a caller', () => {
  /** Records two seconds of a tone. `latestMs`: longest delay of a packet that the caller sent. */
  const recordTone = async () => {
    const carrier = await Carrier.calls(gateway, { domain: 'voicemail.test', scenario: 'caller-released' })
    await carrier.talks('answered', 0)
    await began()
    const before = carrier.media.sent
    carrier.media.tone(callerTone)
    await until('two seconds of the tone', () => carrier.media.sent - before >= 100)
    const spokenMs = (carrier.media.sent - before) * 20
    carrier.media.tone(0)
    carrier.media.press('#')
    await carrier.done()
    return { recording: await recordingOf(gateway, carrier), spokenMs, latestMs: carrier.media.latestMs }
  }

  it('is a WAV file with the caller’s tone in full length, at a link that needs no credentials', async () => {
    let made = await recordTone()
    // A gap of a caller who stalled is not the gateway's.
    for (let more = 4; made.latestMs >= 60 && more > 0; more--) made = await recordTone()
    const { recording, spokenMs } = made
    expect(recording).toMatchObject({ status: 'completed', end_reason: 'terminator', channels: 1 })
    const { rate, channels } = await fetchWav(recording.url)
    const [samples = new Int16Array()] = channels
    expect(rate).toBe(8000)
    expect(Math.abs(toneMs(samples, callerTone) - spokenMs)).toBeLessThanOrEqual(100)
    expect(samples.length / 8).toBe(recording.duration_ms)
    await gateway.settled()
  })

  it('can be an MP3 file, and includes the silence that ended it', async () => {
    const carrier = await Carrier.calls(gateway, { domain: 'mp3.test', scenario: 'caller-released' })
    await carrier.talks('answered', callerTone)
    await began()
    const before = carrier.media.sent
    await until('a second of the tone', () => carrier.media.sent - before >= 50)
    carrier.media.tone(0)
    await carrier.done()
    const recording = await recordingOf(gateway, carrier)
    expect(recording).toMatchObject({ format: 'mp3', end_reason: 'silence' })
    const answer = await fetch(recording.url)
    expect(answer.headers.get('content-type')).toBe('audio/mpeg')
    const decoder = new MPEGDecoder()
    await decoder.ready
    const { channelData, sampleRate, errors } = decoder.decode(new Uint8Array(await answer.arrayBuffer()))
    expect([sampleRate, errors]).toEqual([8000, []])
    const samples = Int16Array.from(channelData[0]!, (sample) => sample * 32_767)
    decoder.free()
    expect(toneMs(samples, callerTone)).toBeGreaterThan(800)
    expect(samples.length / 8).toBeGreaterThan(toneMs(samples, callerTone) + 900)
    await gateway.settled()
  })

  it('is sent to the action of an XML document as a link', async () => {
    documents.put('/done', '<Response><Hangup/></Response>')
    const record = `<Record playBeep="false" finishOnKey="5" action="${documents.urlOf('/done')}"/>`
    documents.put('/letter', `<Response>${record}</Response>`)
    const carrier = await Carrier.calls(gateway, { domain: 'letter.test', scenario: 'caller-released' })
    await carrier.talks('answered', callerTone)
    await began()
    const before = carrier.media.sent
    await until('a second of the tone', () => carrier.media.sent - before >= 50)
    carrier.media.press('5')
    await carrier.done()
    const request = await until('the action', () => documents.requests.find(({ path }) => path === '/done'))
    expect(request?.fields).toMatchObject({ Digits: '5', RecordingDuration: '1' })
    const { channels } = await fetchWav(request?.fields.RecordingUrl ?? '')
    expect(toneMs(channels[0]!, callerTone)).toBeGreaterThan(800)
    await gateway.settled()
  })
})

// A stall of the machine causes a gap in one attempt. A lasting fault fails in every attempt.
describe('a recording has the sent sound sample by sample', { retry: 4 }, () => {
  it('in mono, for a caller', async () => {
    const carrier = await Carrier.calls(gateway, { domain: 'voicemail.test', scenario: 'caller-released' })
    await carrier.talks('answered', 0)
    await began()
    const before = carrier.media.sent
    carrier.media.says(followedBySilence(said, 8000))
    await until('all audio was sent', () => carrier.media.sent - before >= 110)
    carrier.media.press('#')
    await carrier.done()
    const { channels } = await fetchWav((await recordingOf(gateway, carrier)).url)
    expect(channels).toHaveLength(1)
    expect(sameShare(piecesIn(channels[0]!, said))).toBeGreaterThanOrEqual(0.8)
    await gateway.settled()
  })

  it('in stereo, with the caller’s sound on the left and the gateway’s sound on the right', async () => {
    const carrier = await Carrier.calls(gateway, { domain: 'announced.test', scenario: 'caller-released' })
    await carrier.talks('answered', 0)
    await began()
    carrier.media.says(followedBySilence(said, 8000))
    await carrier.done()
    const { channels } = await fetchWav((await recordingOf(gateway, carrier)).url)
    const [left = new Int16Array(), right = new Int16Array()] = channels
    expect(sameShare(piecesIn(left, said))).toBeGreaterThanOrEqual(0.8)
    // No codec has changed the played sound.
    expect(sameShare(piecesIn(right, played), 60)).toBeGreaterThanOrEqual(0.8)
    expect(sameShare(piecesIn(samplesOf(carrier.media.packets), played))).toBeGreaterThanOrEqual(0.8)
    // Neither channel contains the other party's sound.
    expect(sameShare(piecesIn(left, played), 3) + sameShare(piecesIn(right, said), 3)).toBe(0)
    await gateway.settled()
  })
})

describe('a stereo recording of two connected parties', () => {
  it('has each party on its own channel, with the length of the talk', async () => {
    const callee = await Carrier.listens({ scenario: 'callee', holdMs: 0 })
    documents.put(
      '/bridged',
      JSON.stringify(script({ record_call: { stereo: true } }, { connect: { to: callee.uri } })),
    )
    const carrier = await Carrier.calls(gateway, {
      domain: 'bridged.test',
      scenario: 'caller',
      holdMs: 'manual',
    })
    await carrier.talks('answered', callerTone)
    await callee.talks('invited', calleeTone)
    const answered = performance.now()
    await carrier.hears(calleeTone)
    await callee.hears(callerTone)
    await until('two seconds are over', () => performance.now() - answered > 2000)
    await carrier.goesOn()
    await carrier.done()
    const recording = await recordingOf(gateway, carrier)
    expect(recording).toMatchObject({ status: 'completed', end_reason: 'stopped', channels: 2 })
    const { channels } = await fetchWav(recording.url)
    const [left, right] = channels.map((samples) => [
      toneMs(samples, callerTone),
      toneMs(samples, calleeTone),
    ])
    const length = recording.duration_ms as number
    const { durationMs } = await gateway.record(carrier.callId)
    expect(length).toBeGreaterThan(1900)
    expect(length).toBeLessThanOrEqual((durationMs as number) + 20)
    expect(left![0]).toBeGreaterThan(1000)
    expect(right![1]).toBeGreaterThan(1000)
    // Neither channel contains the other party's tone.
    expect([left![1], right![0]]).toEqual([0, 0])
    await gateway.settled()
  })
})

const began = () => recordingStarts(gateway)
