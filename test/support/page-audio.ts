import type { Page } from 'playwright-core'
import type { Sound } from './swinging-tone.ts'
import { until } from './until.ts'

/**
 * Runs in the page before its own scripts, which stay unchanged. Keeps each RTCPeerConnection for
 * measurements. Switches noise suppression off, which takes a steady tone for noise. With `testRelay`, the
 * page reaches the far side over UDP at that port alone. With `testTurnOnly`, it uses TURN servers alone,
 * over the transport of that name.
 *
 * Switches off the pool of ICE candidates on every page. The published SDK 3.30.0 asks for one. Chromium 150
 * sometimes delivers no candidate of a pool, and the SDK then sends no answer.
 */
export const audioProbe = `(() => {
  const peers = []
  globalThis.testPeers = peers
  const turnOnly = (configuration) => {
    const transport = globalThis.testTurnOnly
    if (transport === undefined) return configuration
    const by = (urls) => [urls].flat().filter((url) => url.endsWith('transport=' + transport))
    const iceServers = configuration.iceServers
      .map((server) => ({ ...server, urls: by(server.urls) }))
      .filter(({ urls }) => urls.length > 0)
    return { ...configuration, iceServers, iceTransportPolicy: 'relay' }
  }
  const Original = globalThis.RTCPeerConnection
  globalThis.RTCPeerConnection = class extends Original {
    constructor(configuration, ...others) {
      super({ ...turnOnly(configuration), iceCandidatePoolSize: 0 }, ...others)
      peers.push(this)
    }
    setRemoteDescription({ type, sdp }) {
      const port = globalThis.testRelay
      if (port === undefined) return super.setRemoteDescription({ type, sdp })
      const over = sdp.replace(/^a=candidate:.* tcp .*\\r\\n/gim, '').replace(/^(a=candidate:.* udp \\d+ \\S+) \\d+/gim, '$1 ' + port)
      return super.setRemoteDescription({ type, sdp: over })
    }
  }
  globalThis.testLoudest = (analyser) => {
    const bins = new Float32Array(analyser.frequencyBinCount)
    analyser.getFloatFrequencyData(bins)
    const loudest = bins.reduce((best, value, index) => (value > bins[best] ? index : best), 0)
    return bins[loudest] < -60 ? 0 : (loudest * analyser.context.sampleRate) / analyser.fftSize
  }
  const devices = navigator.mediaDevices
  if (!devices) return
  const getUserMedia = devices.getUserMedia.bind(devices)
  devices.getUserMedia = (constraints = {}) => {
    const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false }
    const wanted = constraints.audio === true ? {} : constraints.audio
    const audio = wanted ? { ...wanted, ...plain } : constraints.audio
    return getUserMedia({ ...constraints, audio })
  }
})()`

/** Function of a page that returns an audio track with a steady tone, too quiet for a mix to be clipped. */
export const toneTrack = `(frequency) => {
  const context = (globalThis.testTones ??= new AudioContext())
  const tone = context.createOscillator()
  const level = context.createGain()
  const out = context.createMediaStreamDestination()
  tone.frequency.value = frequency
  level.gain.value = 0.2
  tone.connect(level).connect(out)
  tone.start()
  return out.stream.getAudioTracks()[0]
}`

/** Runs in the page after {@link audioProbe}: replaces the microphone by a tone. */
export const microphoneProbe = (frequency: number): string => `(() => {
  const devices = navigator.mediaDevices
  if (!devices) return
  const getUserMedia = devices.getUserMedia.bind(devices)
  devices.getUserMedia = async ({ audio, video } = {}) => {
    const stream = video ? await getUserMedia({ video }) : new MediaStream()
    if (audio) stream.addTrack((${toneTrack})(${frequency}))
    return stream
  }
})()`

/**
 * Tracks of all live incoming audio. Those of a connection that only sends, such as a shared screen's, are
 * left out: they are silent, and only one track is measured.
 */
const tracks = `testPeers
    .filter((peer) => peer.connectionState === 'connected')
    .flatMap((peer) => peer.getTransceivers())
    .filter(({ currentDirection }) => currentDirection?.includes('recv'))
    .map(({ receiver }) => receiver.track)
    .filter((track) => track.kind === 'audio' && track.readyState === 'live')`

/** Measures tracks for a third of a second: returns what `read` finds. */
const listen = `async (tracks, read) => {
  globalThis.testAudio ??= new AudioContext()
  await testAudio.resume()
  const source = testAudio.createMediaStreamSource(new MediaStream(tracks))
  const analyser = testAudio.createAnalyser()
  analyser.fftSize = 8192
  analyser.smoothingTimeConstant = 0
  source.connect(analyser)
  await new Promise((resolve) => setTimeout(resolve, 350))
  const heard = read(analyser)
  source.disconnect()
  return heard
}`

/**
 * Measures all live incoming audio with a function of the page: `read`. `none`: result without audio. A text,
 * since it runs in the page. A page that cannot measure in this way has a `testListen` of its own.
 */
const measure = (read: string, none: string): string => `(async () => {
  const tracks = ${tracks}
  return tracks.length === 0 ? ${none} : (globalThis.testListen ?? (${listen}))(tracks, ${read})
})()`

/** Page for measurements: playwright's, or another that runs scripts in the same way. */
export type Measured = Pick<Page, 'evaluate'>

/** The strongest frequency that the page receives, in Hz; 0 for silence. Takes a third of a second. */
export const heardIn = (page: Measured): Promise<number> =>
  page.evaluate(measure('testLoudest', '0')) as Promise<number>

/**
 * Returns those of the given frequencies that the page receives: audible, and at most 25 dB below the
 * strongest of them. Takes a third of a second.
 */
export const tonesIn = (page: Measured, frequencies: readonly number[]): Promise<readonly number[]> => {
  const read = `(analyser) => {
    const tones = ${JSON.stringify(frequencies)}
    const bins = new Float32Array(analyser.frequencyBinCount)
    analyser.getFloatFrequencyData(bins)
    const levels = tones.map((tone) => {
      const bin = Math.round((tone * analyser.fftSize) / analyser.context.sampleRate)
      return Math.max(...bins.subarray(bin - 1, bin + 2))
    })
    const least = Math.max(-60, Math.max(...levels) - 25)
    return tones.filter((_, at) => levels[at] > least)
  }`
  return page.evaluate(measure(read, '[]')) as Promise<readonly number[]>
}

/** Waits until the page hears a tone within 15 Hz of this one. */
export const hears = async (page: Measured, frequency: number): Promise<void> => {
  await until(
    `the browser hears ${frequency} Hz`,
    () => heardIn(page),
    (heard) => Math.abs(heard - frequency) < 15,
  )
}

/** Audio worklet that collects samples, and posts one second of them at a time. */
const recorder = `registerProcessor('recorder', class extends AudioWorkletProcessor {
  constructor() { super(); this.samples = new Float32Array(sampleRate); this.at = 0 }
  process([[channel]]) {
    const heard = channel ?? new Float32Array(128)
    for (const sample of heard) {
      this.samples[this.at++] = sample
      if (this.at < this.samples.length) continue
      this.port.postMessage(this.samples)
      this.at = 0
    }
    return true
  }
})`

const record = (seconds: number): string => `(async () => {
  const tracks = ${tracks}
  const context = new AudioContext()
  await context.resume()
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([${JSON.stringify(recorder)}], { type: 'text/javascript' })))
  const source = context.createMediaStreamSource(new MediaStream(tracks))
  const node = new AudioWorkletNode(context, 'recorder', { numberOfOutputs: 0, channelCount: 1, channelCountMode: 'explicit' })
  const heard = []
  await new Promise((resolve) => {
    node.port.onmessage = ({ data }) => { if (heard.push(data) === ${seconds}) resolve() }
    source.connect(node)
  })
  source.disconnect()
  const samples = Int16Array.from({ length: ${seconds} * context.sampleRate }, (_, i) =>
    Math.max(-1, Math.min(1, heard[Math.floor(i / context.sampleRate)][i % context.sampleRate])) * 32767)
  const rate = context.sampleRate
  await context.close()
  const bytes = new Uint8Array(samples.buffer)
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192)
    text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return { rate, text: btoa(text) }
})()`

/**
 * Records the page's incoming audio for whole seconds. The page must have been opened without its content
 * policy (`Browser.page`).
 */
export const recordedIn = async (page: Page, seconds: number): Promise<Sound> => {
  const { rate, text } = (await page.evaluate(record(seconds))) as { rate: number; text: string }
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'))
  return { rate, samples: new Int16Array(bytes.buffer) }
}
