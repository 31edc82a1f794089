import { createComposers } from '../../../media/compose/composers.ts'
import { composerReason } from '../../../media/compose/pictures.ts'
import type { BrowserTracks, Composers, RoomPicture, RoomVideo } from '../../../media/types.ts'
import { type MediaStack, openMediaStack, until } from '../../../test/support/webrtc/media-stack.ts'
import { toneFile } from '../../../test/support/webrtc/microphone.ts'
import { Parties, type Party } from '../../../test/support/webrtc/parties.ts'
import { PhoneBrowser } from '../../../test/support/webrtc/phone-page.ts'
import type { Received } from '../../../test/support/webrtc/seen-video.ts'
import { WebRtcRelay } from '../../../test/support/webrtc-relay.ts'
import { passes } from './stage.ts'

/** Path to the slow viewer. A packet that would wait longer than the queue is lost. */
const path = { bitRate: 400_000, queueMs: 600 }
/** Marks of noise in each frame of a camera: the larger picture then needs more than the path has. */
const noise = 40
/** Sizes of the cameras: the smallest of three sizes has a fourth of the width. */
const small = { width: 640, height: 360 }
const large = { width: 1280, height: 720 }
/** Samples of audio per ms. */
const samplesPerMs = 48

const half = { y: 0, width: 50, height: 100, z: 0, isVisible: true }
const composed: RoomPicture = {
  kind: 'composed',
  layers: [
    { id: 'quick', x: 0, ...half },
    { id: 'slow', x: 50, ...half },
  ],
}
const speaker: RoomPicture = { kind: 'speaker', main: 'quick', other: 'slow' }

type Member = 'quick' | 'slow'

/** One second of a viewer: what its page has received, and the layer of its picture. */
interface Second extends Received {
  /** `h`igh, `l`ow, `p`aused, or `-` for a picture of one size. */
  readonly layer: string
}

/** Two pages that talk and see each other: a quick one, and one behind a narrow path. */
class SlowRoom {
  readonly #room: RoomVideo
  readonly #relay: WebRtcRelay
  readonly #members: Readonly<Record<Member, Party>>
  #tracks: BrowserTracks | undefined

  private constructor(room: RoomVideo, relay: WebRtcRelay, members: Readonly<Record<Member, Party>>) {
    this.#room = room
    this.#relay = relay
    this.#members = members
  }

  /** `simulcast`: whether the quick page sends its camera in three sizes. */
  static async open(stack: MediaStack, parties: Parties, simulcast: boolean): Promise<SlowRoom> {
    const room = stack.webrtc.openRoom((fault) => console.error(fault))
    const relay = await WebRtcRelay.narrow(stack.port, path)
    const quick = await parties.callIn('red', { simulcast })
    const slow = await parties.callIn('blue', { relay: relay.port })
    for (const [{ page }, colour] of [
      [quick, 'red'],
      [slow, 'blue'],
    ] as const) {
      await page.call('camera', colour, simulcast ? large : small)
      await page.call('addNoise', noise)
    }
    stack.edge.join(quick.media.port, slow.media.port)
    room.add('quick', quick.media.video)
    room.add('slow', slow.media.video)
    return new SlowRoom(room, relay, { quick, slow })
  }

  /** Shows the picture, and waits for its first frame at both pages. */
  async show(picture: RoomPicture): Promise<void> {
    this.#room.show(picture)
    for (const { page } of Object.values(this.#members))
      await until(
        () => page.call('seen'),
        ({ frames }) => frames > 0,
      )
  }

  /** Shows the camera of the quick page to the slow one, over a line of its own. */
  async showTrack({ webrtc, port }: MediaStack): Promise<void> {
    const { page } = this.#members.slow
    const session = await webrtc.tracks('bench', 1)
    this.#tracks = session
    const tracks = this.#room.watchTracks('slow', session, () => {})
    const offer = session.sdp.replaceAll(` ${port} typ`, ` ${this.#relay.port} typ`)
    await session.accept(await page.call('answerTracks', offer))
    tracks.show([{ id: 'quick', width: large.width, priority: 1 }])
    await until(
      () => page.call('tracksSeen'),
      ([track]) => track !== undefined,
    )
  }

  /** Returns the seconds of both viewers. */
  async watch(seconds: number): Promise<Record<Member, Second[]>> {
    const watched: Record<Member, Second[]> = { quick: [], slow: [] }
    let before = await this.#received()
    for (let second = 0; second < seconds; second++) {
      await passes(1000)
      const now = await this.#received()
      for (const id of ['quick', 'slow'] as const)
        watched[id].push({ ...difference(now[id], before[id]), layer: await this.#layerOf(id) })
      before = now
    }
    return watched
  }

  async close(): Promise<void> {
    await this.#tracks?.close()
    this.#room.close()
    this.#relay.close()
  }

  async #received(): Promise<Record<Member, Received>> {
    const { quick, slow } = this.#members
    const [a, b] = await Promise.all([quick.page.call('received'), slow.page.call('received')])
    const [track] = this.#tracks ? await slow.page.call('tracksSeen') : []
    return { quick: a, slow: { ...b, videoFrames: b.videoFrames + (track?.frames ?? 0) } }
  }

  async #layerOf(id: Member): Promise<string> {
    const { received } = await this.#room.figures(id)
    return received?.isPaused ? 'p' : (received?.layer?.charAt(0) ?? '-')
  }
}

const difference = (now: Received, before: Received): Received => {
  const of = (name: keyof Received) => now[name] - before[name]
  return {
    audioPackets: of('audioPackets'),
    audioLost: of('audioLost'),
    audioConcealed: of('audioConcealed'),
    videoFrames: of('videoFrames'),
    videoBytes: of('videoBytes'),
  }
}

const print = (what: string, seconds: readonly Second[]): void => {
  const sum = (name: keyof Received) => seconds.reduce((total, each) => total + each[name], 0)
  const mean = (name: keyof Received, factor = 1) => Math.round((factor * sum(name)) / seconds.length)
  const frames = seconds.map(({ videoFrames }) => videoFrames)
  console.log(
    `${what.padEnd(27)} | ${mean('videoFrames')} fps, least ${Math.min(...frames)} | ` +
      `${mean('videoBytes', 8 / 1000)} kbit/s of video | audio: ${sum('audioPackets')} packets, ` +
      `${sum('audioLost')} lost, ${Math.round(sum('audioConcealed') / samplesPerMs)} ms made up | ` +
      `layers ${seconds.map(({ layer }) => layer).join('')} | fps ${frames.join(' ')}`,
  )
}

/**
 * Pictures that are measured: their name, and whether the quick page sends its camera in three sizes.
 * Without a picture, the slow page receives that camera on a line of its own.
 */
const pictures: readonly (readonly [name: string, picture: RoomPicture | undefined, simulcast: boolean])[] = [
  ['composed', composed, false],
  ['speaker, three sizes', speaker, true],
  ['separate camera', undefined, true],
  ['speaker, one size', speaker, false],
]

const measure = async (
  stack: MediaStack,
  browser: PhoneBrowser,
  [name, picture, simulcast]: (typeof pictures)[number],
  seconds: number,
): Promise<void> => {
  const parties = new Parties(stack, () => browser.open())
  const room = await SlowRoom.open(stack, parties, simulcast)
  await (picture ? room.show(picture) : room.showTrack(stack))
  const { quick, slow } = await room.watch(seconds)
  print(`${name}: slow`, slow)
  print(`${name}: quick`, quick)
  await room.close()
  await parties.close()
}

/**
 * Measures a viewer behind a path of 400 kbit/s, beside a quick one: goal G10. Without a composer, only the
 * speaker is measured.
 */
export const slow = async (seconds = 40): Promise<void> => {
  const composers: Composers | undefined = composerReason() === undefined ? createComposers() : undefined
  const stack = await openMediaStack(composers && { composers })
  const file = await toneFile(1000)
  const browser = await PhoneBrowser.start(file.path)
  try {
    for (const each of pictures)
      if (composers || each[1]?.kind !== 'composed') await measure(stack, browser, each, seconds)
  } finally {
    await stack.close()
    await composers?.close()
    await browser.close()
    await file.remove()
  }
}
