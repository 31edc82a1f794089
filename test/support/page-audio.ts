import type { Page } from 'playwright-core'
import { until } from './until.ts'

/**
 * Runs in the page before its own scripts. It remembers each RTCPeerConnection, so that what arrives can be measured, and asks for the microphone
 * as it is: noise suppression takes a steady tone for noise. The page's own code is not changed.
 */
export const audioProbe = `(() => {
  const peers = []
  globalThis.testPeers = peers
  const Original = globalThis.RTCPeerConnection
  globalThis.RTCPeerConnection = class extends Original {
    constructor(...args) {
      super(...args)
      peers.push(this)
    }
  }
  const devices = navigator.mediaDevices
  if (!devices) return
  const getUserMedia = devices.getUserMedia.bind(devices)
  devices.getUserMedia = (constraints = {}) => {
    const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false }
    const audio = constraints.audio ? { ...(constraints.audio === true ? {} : constraints.audio), ...plain } : constraints.audio
    return getUserMedia({ ...constraints, audio })
  }
})()`

/** Measures in the page: the strongest frequency in Hz of all live incoming audio, 0 for silence. A text: the types of a page are not those of Node. */
const measure = `(async () => {
  const tracks = testPeers
    .filter((peer) => peer.connectionState === 'connected')
    .flatMap((peer) => peer.getReceivers().map(({ track }) => track))
    .filter((track) => track.kind === 'audio' && track.readyState === 'live')
  if (tracks.length === 0) return 0
  globalThis.testAudio ??= new AudioContext()
  await testAudio.resume()
  const source = testAudio.createMediaStreamSource(new MediaStream(tracks))
  const analyser = testAudio.createAnalyser()
  analyser.fftSize = 8192
  analyser.smoothingTimeConstant = 0
  source.connect(analyser)
  await new Promise((resolve) => setTimeout(resolve, 350))
  const bins = new Float32Array(analyser.frequencyBinCount)
  analyser.getFloatFrequencyData(bins)
  source.disconnect()
  const loudest = bins.reduce((best, value, index) => (value > bins[best] ? index : best), 0)
  return bins[loudest] < -60 ? 0 : (loudest * testAudio.sampleRate) / analyser.fftSize
})()`

/** The strongest frequency that the page receives, in Hz; 0 for silence. Takes a third of a second. */
export const heardIn = (page: Page): Promise<number> => page.evaluate(measure) as Promise<number>

/** Waits until the page hears a tone within 15 Hz of this one. */
export const hears = async (page: Page, frequency: number): Promise<void> => {
  await until(
    `the browser hears ${frequency} Hz`,
    () => heardIn(page),
    (heard) => Math.abs(heard - frequency) < 15,
  )
}
