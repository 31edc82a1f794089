import type { Page } from 'playwright-core'
import { decode } from '../../../media/codecs/g711.ts'
import { sine } from '../../../media/codecs/tone.ts'
import { application, scripted } from '../../../test/support/applications.ts'
import { RtpPeer } from '../../../test/support/rtp-peer.ts'
import { type PlacedCall, SipCaller } from '../../../test/support/sip-caller.ts'
import { until } from '../../../test/support/until.ts'
import { printFigure } from './figures.ts'
import { say } from './person.ts'
import { onStage, passes, type Stage } from './stage.ts'

/** An Opus frame at the edge of a page: after its encoder, or before its jitter buffer. */
interface OpusFrame {
  readonly way: 'in' | 'out'
  readonly at: number
  readonly size: number
}

/** Size in bytes above which an Opus frame has sound; digital silence takes less. */
const minSoundBytes = 25

const worker = `onrtctransform = ({ transformer: { readable, writable, options } }) => readable
  .pipeThrough(new TransformStream({ transform(frame, controller) {
    postMessage({ way: options, at: Date.now(), size: frame.data.byteLength })
    controller.enqueue(frame)
  } })).pipeTo(writable)`

/**
 * Script of a page that keeps the times and sizes of its Opus frames. Chromium accepts transforms only
 * while the line is created.
 */
const opusProbe = `(() => {
  globalThis.benchOpus = []
  const script = new Blob([${JSON.stringify(worker)}], { type: 'text/javascript' })
  const worker = new Worker(URL.createObjectURL(script))
  worker.onmessage = ({ data }) => benchOpus.push(data)
  const made = RTCPeerConnection.prototype
  for (const name of ['addTransceiver', 'addTrack']) {
    const original = made[name]
    made[name] = function (...given) {
      const result = original.apply(this, given)
      const { sender, receiver } = this.getTransceivers().at(-1)
      if (receiver.track.kind === 'audio' && !sender.transform) {
        sender.transform = new RTCRtpScriptTransform(worker, 'out')
        receiver.transform = new RTCRtpScriptTransform(worker, 'in')
      }
      return result
    }
  }
})()`

/** Returns the time of the first frame with sound after `since`. */
const soundAt = async (page: Page, way: OpusFrame['way'], since: number): Promise<number | undefined> => {
  const frames: OpusFrame[] = await page.evaluate('benchOpus')
  return frames.find((frame) => frame.way === way && frame.at >= since && frame.size > minSoundBytes)?.at
}

/** A telephone: SIP and RTP of its own. */
class Phone {
  readonly #caller: SipCaller
  readonly media: RtpPeer

  private constructor(caller: SipCaller, media: RtpPeer) {
    this.#caller = caller
    this.media = media
  }

  static async open({ gateway }: Stage): Promise<Phone> {
    return new Phone(await SipCaller.open(gateway.sipPort, '127.0.0.1', false), await RtpPeer.open())
  }

  /** Calls the room, and sends a tone, or silence for 0, from the answer on. */
  async joins(frequency: number): Promise<PlacedCall> {
    const { address, port } = this.media
    const call = await this.#caller.call('sip:lounge@lounge.test', { media: { address, port } })
    const far = /^m=audio (\d+)/m.exec(call.response)?.[1]
    if (far === undefined) throw new Error(`bench: expected an answer with audio, got ${call.status}`)
    this.media.send(far, frequency)
    return call
  }

  /** Sends a tone of 60 ms. Returns the time of its first packet. */
  async beeps(): Promise<number> {
    const before = this.media.sent
    this.media.say(sine(1000, 60))
    while (this.media.sent === before) await passes(1)
    return Date.now()
  }

  /** Time of the first packet with sound after `since`. */
  heardAt(since: number): number | undefined {
    const offset = Date.now() - performance.now()
    const isLoud = (payload: Uint8Array) => decode('PCMU', payload).some((sample) => Math.abs(sample) > 1000)
    const packet = this.media.packets.find(({ at, payload }) => at + offset >= since && isLoud(payload))
    return packet && packet.at + offset
  }

  close(): void {
    this.media.close()
    this.#caller.close()
  }
}

/** Measures calls whose telephone and page give a tone all the time. */
const answers = async (stage: Stage, page: Page, rounds: number): Promise<void> => {
  const toPage: number[] = []
  const toPhone: number[] = []
  for (let i = 0; i < rounds; i++) {
    await say(page, 'tone', 3000)
    const phone = await Phone.open(stage)
    const call = await phone.joins(440)
    const answered = Date.now()
    const [atPage, atPhone] = await Promise.all([
      until('the page hears the telephone', () => soundAt(page, 'in', answered)),
      until('the telephone hears the page', () => phone.heardAt(answered)),
    ])
    toPage.push(atPage! - answered)
    toPhone.push(atPhone! - answered)
    await call.hangUp()
    phone.close()
    await passes(Math.max(0, answered + 3500 - Date.now()))
  }
  printFigure('Answer to the first sound of the telephone at the page', toPage, { max: 500 })
  printFigure('Answer to the first sound of the page at the telephone', toPhone, { max: 500 })
}

/** Measures tones of 60 ms each way in one call. */
const delays = async (stage: Stage, page: Page, rounds: number): Promise<void> => {
  const phone = await Phone.open(stage)
  const call = await phone.joins(0)
  await passes(2000)
  const toPage: number[] = []
  const toPhone: number[] = []
  for (let i = 0; i < rounds; i++) {
    const sent = await phone.beeps()
    await passes(400 + 40 * Math.random())
    const atPage = await soundAt(page, 'in', sent)
    if (atPage !== undefined) toPage.push(atPage - sent)
    const said = await say(page, 'tone', 60)
    await passes(400 + 40 * Math.random())
    const encoded = await soundAt(page, 'out', said)
    const atPhone = encoded && phone.heardAt(encoded)
    if (encoded !== undefined && atPhone !== undefined) toPhone.push(atPhone - encoded)
  }
  printFigure('Packet of the telephone to the packet at the page', toPage, { p95: 60 })
  printFigure('Frame of the page to the packet at the telephone', toPhone, { p95: 60 })
  await call.hangUp()
  phone.close()
}

/** Measures a telephone in a room with two pages: goal G8. */
export const phone = (rounds = 60): Promise<void> => {
  const domains = [application('lounge.test', scripted({ join_room: { name: 'lounge' } }))]
  return onStage({ domains }, async (stage) => {
    const { page } = await stage.member('ann', { colour: 'red', noise: 0, probe: opusProbe })
    await stage.member('ben', { colour: 'lime', noise: 0 })
    await passes(4000)
    await delays(stage, page, rounds)
    await answers(stage, page, 10)
  })
}
