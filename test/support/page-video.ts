import type { Page } from 'playwright-core'
import { toneTrack } from './page-audio.ts'
import { until } from './until.ts'

/** Colours of pictures, by their CSS names. */
export type Colour = 'red' | 'lime' | 'blue' | 'yellow'

/** Colour of a shared screen, whatever the camera shows. */
export const screenColour: Colour = 'yellow'

/** Frequency of the sound of shared screens, in Hz. */
export const screenTone = 300

/**
 * Runs in the page before its own scripts, which stay unchanged. Replaces camera and screen by pictures of
 * one colour with a moving bar. A screen shared with sound has a tone of 300 Hz.
 */
export const videoProbe = (camera: Colour): string => `(() => {
  const picture = (colour) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 180 })
    const context = canvas.getContext('2d')
    const [track] = canvas.captureStream(15).getVideoTracks()
    const paint = () => {
      if (track.readyState === 'ended') return clearInterval(timer)
      context.fillStyle = colour
      context.fillRect(0, 0, 320, 180)
      context.fillStyle = 'white'
      context.fillRect((performance.now() / 10) % 320, 150, 10, 30)
    }
    const timer = setInterval(paint, 66)
    paint()
    return track
  }
  const devices = navigator.mediaDevices
  if (!devices) return
  const getUserMedia = devices.getUserMedia.bind(devices)
  devices.getUserMedia = async ({ audio, video } = {}) => {
    const stream = audio ? await getUserMedia({ audio }) : new MediaStream()
    if (video) stream.addTrack(picture(${JSON.stringify(camera)}))
    return stream
  }
  devices.getDisplayMedia = async ({ audio } = {}) => {
    const sound = audio ? [(${toneTrack})(${screenTone})] : []
    return new MediaStream([picture(${JSON.stringify(screenColour)}), ...sound])
  }
})()`

/** Colour of a place in a picture. `grey`: a plain tile; `nothing`: no frame within half a second. */
export type SeenColour = Colour | 'grey' | 'other' | 'nothing'

/** Names the colour of a pixel: red, green and blue from 0 to 255. Also runs in pages, as a text. */
export const colourOf = ([r = 0, g = 0, b = 0]: Iterable<number>): SeenColour => {
  if (r > 150 && b < 110) return g > 150 ? 'yellow' : g < 110 ? 'red' : 'other'
  if (g > 150 && r < 110 && b < 110) return 'lime'
  if (b > 150 && r < 110 && g < 110) return 'blue'
  return Math.max(r, g, b) - Math.min(r, g, b) < 30 && r < 170 ? 'grey' : 'other'
}

/** Place in a picture, in percent from the top left corner. */
export interface Place {
  readonly x: number
  readonly y: number
}

/** Incoming video of a page. */
interface Seen {
  /** Colours of the next frame at the places. */
  readonly colours: readonly SeenColour[]
  /** Decoded frames of all streams. */
  readonly frames: number
}

/** Function of a page that names the colours of a frame at places, and closes the frame. */
const colourReader = `const coloursOf = (context, frame, places) => {
    const colourOf = ${colourOf}
    const colours = places.map(({ x, y }) => {
      context.drawImage(frame, frame.displayWidth * x / 100, frame.displayHeight * y / 100, 1, 1, 0, 0, 1, 1)
      return colourOf(context.getImageData(0, 0, 1, 1).data)
    })
    frame.close()
    return colours
  }`

/**
 * Reads the frames of all connections, and the colours of the newest moving video. A page that cannot read
 * frames in this way has a `testNextFrame` of its own.
 */
const lookAt = (places: readonly Place[]): string => `(async () => {
  ${colourReader}
  const places = ${JSON.stringify(places)}
  const peers = testPeers.filter((peer) => peer.connectionState === 'connected')
  const tracks = peers.flatMap((peer) => peer.getReceivers().map(({ track }) => track))
    .filter((track) => track.kind === 'video' && track.readyState === 'live')
  const next = globalThis.testNextFrame ?? (async (track) => {
    const clone = track.clone()
    const reader = new MediaStreamTrackProcessor({ track: clone }).readable.getReader()
    const timer = setTimeout(() => clone.stop(), 500)
    // The first frame may be an old one.
    const first = await reader.read()
    first.value?.close()
    const { value: frame } = await reader.read()
    clearTimeout(timer)
    clone.stop()
    return frame
  })
  const context = new OffscreenCanvas(1, 1).getContext('2d')
  const coloursIn = async (track) => {
    const frame = await next(track)
    return frame && coloursOf(context, frame, places)
  }
  const stats = (await Promise.all(peers.map((peer) => peer.getStats()))).flatMap((all) => [...all.values()])
  const frames = stats.reduce((sum, s) => sum + (s.type === 'inbound-rtp' && s.kind === 'video' ? s.framesDecoded ?? 0 : 0), 0)
  const seen = await Promise.all(tracks.map(coloursIn))
  return { frames, colours: seen.find(Boolean) ?? places.map(() => 'nothing') }
})()`

/** Returns the page's incoming video at places, default its upper middle. Takes up to half a second. */
const lookIn = (page: Pick<Page, 'evaluate'>, places: readonly Place[] = [{ x: 50, y: 25 }]): Promise<Seen> =>
  page.evaluate(lookAt(places)) as Promise<Seen>

/** Returns the colour of the page's incoming video, and its frames so far. Takes up to half a second. */
export const seenIn = async (
  page: Pick<Page, 'evaluate'>,
): Promise<{ readonly colour: SeenColour; readonly frames: number }> => {
  const { colours, frames } = await lookIn(page)
  return { colour: colours[0] ?? 'nothing', frames }
}

/** Returns the colours of the page's incoming video at places. Takes up to half a second. */
export const coloursIn = async (
  page: Pick<Page, 'evaluate'>,
  places: readonly Place[],
): Promise<readonly SeenColour[]> => (await lookIn(page, places)).colours

/** Waits until the page sees moving pictures of this colour that were decoded after the call. */
export const sees = async (page: Pick<Page, 'evaluate'>, colour: Colour): Promise<void> => {
  let before = Number.POSITIVE_INFINITY
  const ask = async () => {
    const { frames, colour } = await seenIn(page)
    const isMore = frames > before
    before = Math.min(before, frames)
    return { colour, isMore, frames }
  }
  await until(`the browser sees ${colour}`, ask, (seen) => seen.colour === colour && seen.isMore)
}

/** Waits until no more pictures arrive. */
export const seesNothing = async (page: Pick<Page, 'evaluate'>): Promise<void> => {
  await until(
    'the browser sees nothing',
    () => seenIn(page),
    ({ colour }) => colour === 'nothing',
  )
}

/** Frame of a page's incoming video: its time in ms since the Unix epoch, and its colours. */
export interface ColouredFrame {
  readonly at: number
  readonly colours: readonly SeenColour[]
}

/**
 * Records the colours of every frame of the page's newest video at places, from its next frame on. The
 * returned function ends that, and resolves with the frames in their order.
 */
export const recordColours = async (
  page: Pick<Page, 'evaluate'>,
  places: readonly Place[],
): Promise<() => Promise<readonly ColouredFrame[]>> => {
  await page.evaluate(`(() => {
    ${colourReader}
    const places = ${JSON.stringify(places)}
    const track = testPeers.filter((peer) => peer.connectionState === 'connected')
      .flatMap((peer) => peer.getReceivers().map(({ track }) => track))
      .filter(({ kind, readyState }) => kind === 'video' && readyState === 'live').at(-1).clone()
    const reader = new MediaStreamTrackProcessor({ track }).readable.getReader()
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
    const frames = []
    const first = Promise.withResolvers()
    const read = async () => {
      for (;;) {
        const { value } = await reader.read()
        if (!value) return frames
        const at = performance.timeOrigin + performance.now()
        frames.push({ at, colours: coloursOf(context, value, places) })
        first.resolve()
      }
    }
    const all = read()
    globalThis.testColours = () => { track.stop(); return all }
    return first.promise
  })()`)
  return () => page.evaluate('testColours()') as Promise<readonly ColouredFrame[]>
}
