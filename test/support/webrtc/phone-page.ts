/** A headless Chromium whose microphone plays a WAV file, and the functions of its page. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { chromiumFlags } from '../browser.ts'
import { reportPageOnFailure } from '../failure-report.ts'
import { type PageTracks, tracksScript } from './seen-tracks.ts'
import { type PageVideo, videoScript } from './seen-video.ts'

/** Functions that the page's script adds to `window`. */
interface Phone extends PageVideo, PageTracks {
  start(constraints: { audio: boolean; video?: boolean }): Promise<void>
  /** Returns an offer, with the payload types of video replaced by `numbers`. */
  offer(restart?: boolean, numbers?: Readonly<Record<string, string>>): Promise<string>
  addVideo(): Promise<void>
  take(type: 'answer' | 'offer', sdp: string): Promise<void>
  /** Answers with audio, and with video if a colour is given. */
  answer(sdp: string, colour?: string): Promise<string>
  state(): Promise<{ connection: string; transports: string[] }>
  path(): Promise<{ protocol: string }>
  pitch(): Promise<number>
  /** Sends digits by RFC 4733. Returns whether the browser can send digits. */
  press(keys: string): boolean
  stop(): void
}

// Runs in the page. Echo cancellation and noise suppression would remove the tone as noise.
const script = `
window.phone = (() => {
  const pc = new RTCPeerConnection({ bundlePolicy: 'max-compat' })
  let context, analyser
  ${videoScript}
  ${tracksScript}
  pc.ontrack = ({ track, streams }) => {
    if (track.kind !== 'audio') return
    const stream = streams[0] ?? new MediaStream([track])
    const element = new Audio(); element.srcObject = stream; element.muted = true; element.play()
    context = new AudioContext(); analyser = context.createAnalyser(); analyser.fftSize = 8192
    context.createMediaStreamSource(stream).connect(analyser)
  }
  const gathered = () => new Promise((resolve) => {
    if (pc.iceGatheringState === 'complete') return resolve()
    const timer = setTimeout(resolve, 2000)
    pc.addEventListener('icegatheringstatechange', () => {
      if (pc.iceGatheringState === 'complete') { clearTimeout(timer); resolve() }
    })
  })
  const constraints = { echoCancellation: false, noiseSuppression: false, autoGainControl: false }
  const add = async (want) => {
    const stream = await navigator.mediaDevices.getUserMedia(want)
    for (const track of stream.getTracks()) pc.addTrack(track, stream)
  }
  return {
    ...video,
    ...tracks,
    start: ({ audio, video }) => add({ audio: audio && constraints, video: video ?? false }),
    addVideo: () => add({ audio: false, video: true }),
    offer: async (restart, numbers) => {
      const { sdp } = await pc.createOffer({ iceRestart: restart ?? false })
      await pc.setLocalDescription({ type: 'offer', sdp: numbers ? video.renumber(sdp, numbers) : sdp })
      await gathered()
      return pc.localDescription.sdp
    },
    take: (type, sdp) => pc.setRemoteDescription({ type, sdp: video.inOrder(sdp) }),
    answer: async (sdp, colour) => {
      await pc.setRemoteDescription({ type: 'offer', sdp })
      await add({ audio: constraints })
      if (colour) await video.camera(colour)
      await pc.setLocalDescription(await pc.createAnswer())
      await gathered()
      return pc.localDescription.sdp
    },
    // From the statistics: the state of a sender's RTCDtlsTransport stays at 'connecting' for good when it
    // changes while Chromium makes the object, seen with a connectionState of 'connected' next to it.
    state: async () => ({
      connection: pc.connectionState,
      transports: [...(await pc.getStats()).values()].filter((s) => s.type === 'transport').map((s) => s.dtlsState),
    }),
    // Protocol of the selected ICE candidate pair.
    path: async () => {
      const all = [...(await pc.getStats()).values()]
      const used = all.filter((s) => s.type === 'transport').map((s) => all.find((p) => p.id === s.selectedCandidatePairId))
      const remote = used.map((pair) => all.find((c) => c.id === pair?.remoteCandidateId))
      return { protocol: remote[0]?.protocol ?? '' }
    },
    // Strongest frequency of the incoming audio, in Hz; 0 for silence.
    pitch: async () => {
      if (!analyser) return 0
      await context.resume()
      const bins = new Float32Array(analyser.frequencyBinCount)
      analyser.getFloatFrequencyData(bins)
      let best = 0
      for (let i = 1; i < bins.length; i++) if (bins[i] > bins[best]) best = i
      return bins[best] < -60 ? 0 : (best * context.sampleRate) / analyser.fftSize
    },
    press: (keys) => {
      const { dtmf } = pc.getSenders().find(({ track }) => track?.kind === 'audio')
      dtmf.insertDTMF(keys, 100, 70)
      return dtmf.canInsertDTMF
    },
    stop: () => pc.close(),
  }
})()
`

/** One page with one RTCPeerConnection. */
export class PhonePage {
  readonly #page: Pick<Page, 'evaluate' | 'close'>

  constructor(page: Pick<Page, 'evaluate' | 'close'>) {
    this.#page = page
  }

  /** Calls one of the page's functions. */
  call<K extends keyof Phone>(
    name: K,
    ...args: Parameters<Phone[K]>
  ): Promise<Awaited<ReturnType<Phone[K]>>> {
    const source = `window.phone[${JSON.stringify(name)}](...${JSON.stringify(args)})`
    const result = this.#page.evaluate(source) as Promise<Awaited<ReturnType<Phone[K]>>>
    // The error's stack contains the page's address, which the test runner would treat as a file.
    return result.catch((error: Error) =>
      Promise.reject(new Error(`${name}: ${error.message.split('\n')[0]}`)),
    )
  }

  async close(): Promise<void> {
    await this.#page.close()
  }
}

/** A browser and the small server of its empty page. */
export class PhoneBrowser {
  readonly #browser: Browser
  readonly #server: ReturnType<typeof createServer>
  /** Tabs that are free for new pages: opening a tab takes half a second. */
  readonly #left: Page[] = []

  private constructor(browser: Browser, server: ReturnType<typeof createServer>) {
    this.#browser = browser
    this.#server = server
  }

  /** Starts Chromium with `wav` as its microphone. */
  static async start(wav: string): Promise<PhoneBrowser> {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<!doctype html><title>phone</title><script>${script}</script>`)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: [...chromiumFlags, `--use-file-for-fake-audio-capture=${wav}`],
    })
    return new PhoneBrowser(browser, server)
  }

  /** Address of the page, for another browser. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  /** Opens the page, in a free tab if one exists. */
  async open(): Promise<PhonePage> {
    const page = this.#left.pop() ?? (await this.#newTab())
    await page.goto(this.url)
    const close = async (): Promise<void> => {
      await page.goto('about:blank')
      if (!this.#left.includes(page)) this.#left.push(page)
    }
    return new PhonePage({ evaluate: page.evaluate.bind(page), close })
  }

  async #newTab(): Promise<Page> {
    const page = await this.#browser.newPage()
    reportPageOnFailure(page)
    return page
  }

  async close(): Promise<void> {
    await this.#browser.close()
    this.#server.close()
  }
}
