/** Recordings of rooms in the tests: a page with flashes and clicks, and a player for the file. */
import type { Page } from 'playwright-core'
import type { MemberFile } from '../../gateway/calls/audio/recording-store.ts'
import { readWebm } from '../../media/record/testing/read-webm.ts'
import type { Gateway } from './gateway.ts'
import { rest } from './rest.ts'
import { until } from './until.ts'

/** Complete recording of the API. */
export interface CompleteRecording {
  readonly started_at: string
  readonly finished_at: string
  /** Duration in seconds. */
  readonly duration: number
  readonly uri: string
  /** Files of the members. */
  readonly files: readonly MemberFileLink[]
  /** Link to the manifest; null without files of members. */
  readonly manifest_uri: string | null
}

/** File of a member with its link. */
export interface MemberFileLink extends Required<MemberFile> {
  readonly format: string
  readonly uri: string
}

/** Waits until a recording is complete, and returns it. */
export const completeRecording = (gateway: Gateway, id: string): Promise<CompleteRecording> =>
  until(
    'the recording is complete',
    async () => (await rest(gateway, 'GET', `/api/video/room_recordings/${id}`)).body,
    ({ status }) => status === 'completed',
  )

/** Fetches the WebM of a recording from the link of the API. */
export const webmOf = async ({ uri }: Pick<CompleteRecording, 'uri'>): Promise<Buffer> => {
  const answer = await fetch(uri)
  const type = answer.headers.get('content-type')
  if (type !== 'video/webm') throw new Error(`video/webm expected, not ${type}`)
  return Buffer.from(await answer.arrayBuffer())
}

/** Options of {@link flashAndBeep}. */
export interface FlashOptions {
  /** Frequency of the tone in Hz; default 1000. */
  readonly hz?: number
  /** Dark colour between the flashes; default black. */
  readonly dark?: string
}

/**
 * Returns a script that replaces camera and microphone of a page. The first 200 ms of each second of the wall
 * clock, at the same time in all pages, have a white picture and a tone. The rest is dark and silent. A page
 * that waits for a core is late: {@link flashTimes} has its true times.
 */
export const flashAndBeep = ({ hz = 1000, dark = 'black' }: FlashOptions = {}): string => `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 180 })
  const context = canvas.getContext('2d')
  const audio = new AudioContext()
  const [tone, gain] = [audio.createOscillator(), audio.createGain()]
  const out = audio.createMediaStreamDestination()
  tone.frequency.value = ${hz}
  gain.gain.value = 0
  tone.connect(gain).connect(out)
  tone.start()
  let wasOn
  globalThis.testFlashes = []
  setInterval(() => {
    const isOn = Date.now() % 1000 < 200
    if (isOn !== wasOn) gain.gain.value = isOn ? 0.5 : 0
    if (isOn && wasOn === false) testFlashes.push(Date.now())
    wasOn = isOn
    context.fillStyle = isOn ? 'white' : '${dark}'
    context.fillRect(0, 0, 320, 180)
    context.fillStyle = 'grey'
    context.fillRect((performance.now() / 10) % 320, 150, 10, 30)
  }, 15)
  navigator.mediaDevices.getUserMedia = async () => new MediaStream([
    canvas.captureStream(30).getVideoTracks()[0],
    out.stream.getAudioTracks()[0],
  ])
})()`

/** Returns the times of the flashes of a page with {@link flashAndBeep}, in ms since the Unix epoch. */
export const flashTimes = (page: Page): Promise<readonly number[]> => page.evaluate('testFlashes')

/** Waits until a page has sent a picture of its camera. */
export const sendsPicture = async (page: Page): Promise<void> => {
  const sent = `(async () => {
    const reports = await Promise.all(testPeers.map((peer) => peer.getStats()))
    return reports.flatMap((report) => [...report.values()])
      .some(({ type, framesEncoded }) => type === 'outbound-rtp' && framesEncoded > 0)
  })()`
  await until('the page sends a picture', () => page.evaluate(sent) as Promise<boolean>)
}

/** Waits until a page with {@link flashAndBeep} sends pictures, and for this number of flashes then. */
export const flashes = async (page: Page, count: number): Promise<void> => {
  await sendsPicture(page)
  const before = (await flashTimes(page)).length
  const made = async () => (await flashTimes(page)).length - before
  await until(`${count} flashes`, made, (times) => times >= count)
}

/** Returns the greatest time between the flashes of two pages for the same second, in ms. */
export const unevennessOf = (times: readonly number[], others: readonly number[]): number => {
  const steps = times.flatMap((time) => {
    const other = others.find((each) => Math.floor(each / 1000) === Math.floor(time / 1000))
    return other === undefined ? [] : [Math.abs(other - time)]
  })
  return Math.max(0, ...steps)
}

/** A file as a browser plays it. Times in ms. */
export interface PlayedFile {
  readonly durationMs: number
  /** Frames that were shown, with the colour of their upper middle. */
  readonly frames: readonly { readonly atMs: number; readonly rgb: readonly [number, number, number] }[]
  /** Duration of the decoded audio. */
  readonly audioMs: number
  /** Beginnings of sounds after silence. */
  readonly sounds: readonly number[]
}

/** Returns an expression of a page for the bytes of a file. */
const bytesOf = (file: Buffer): string =>
  `Uint8Array.from(atob('${file.toString('base64')}'), (character) => character.charCodeAt(0))`

/** Runs in the page, as the other scripts here. */
const play = (file: Buffer, speed: number): string => `(async () => {
  const bytes = ${bytesOf(file)}
  const audio = await new OfflineAudioContext(1, 48000, 48000).decodeAudioData(bytes.slice().buffer)
  const sounds = []
  let quiet = 4800
  audio.getChannelData(0).forEach((sample, i) => {
    if (Math.abs(sample) < 0.05) return quiet++
    if (quiet >= 4800) sounds.push(i / 48)
    quiet = 0
  })
  const video = document.createElement('video')
  video.muted = true
  video.defaultPlaybackRate = ${speed}
  await new Promise((resolve, reject) => {
    video.oncanplay = resolve
    video.onerror = () => reject(new Error('not playable: ' + video.error.message))
    video.src = URL.createObjectURL(new Blob([bytes], { type: 'video/webm' }))
  })
  const frames = []
  const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  const look = (now, { mediaTime }) => {
    context.drawImage(video, video.videoWidth / 2, video.videoHeight / 4, 1, 1, 0, 0, 1, 1)
    frames.push({ atMs: mediaTime * 1000, rgb: [...context.getImageData(0, 0, 1, 1).data].slice(0, 3) })
    video.requestVideoFrameCallback(look)
  }
  video.requestVideoFrameCallback(look)
  // A page that waits for a core may learn of the start after the end.
  const ended = new Promise((resolve) => { video.onended = resolve })
  const player = () => JSON.stringify({
    time: video.currentTime, duration: video.duration, state: video.readyState, paused: video.paused,
    frames: frames.length,
  })
  const stuck = new Promise((_, reject) => {
    setTimeout(() => reject(new Error('not at its end: ' + player())), 60_000)
  })
  await Promise.race([video.play().then(() => ended), stuck])
  return { durationMs: video.duration * 1000, frames, audioMs: audio.duration * 1000, sounds }
})()`

/**
 * Plays a file in a page to its end. Rejects if the browser cannot play it. `speed`: default 1. A file that
 * is played faster has fewer frames in the result.
 */
export const playIn = (page: Page, file: Buffer, speed = 1): Promise<PlayedFile> =>
  page.evaluate(play(file, speed))

/**
 * Returns the times of the packets of sound of a file, in ms. A browser decodes the sound without its gaps,
 * so these times count.
 */
const soundTimes = (file: Buffer): readonly number[] =>
  readWebm(file)
    .blocks.filter(({ track }) => track === 1)
    .map(({ atMs }) => atMs)

/** Returns the sound of a file with 8 kHz, from its time 0 on; gaps are silent. */
export const soundIn = async (page: Page, file: Buffer): Promise<Int16Array> => {
  const text = await page.evaluate<string>(`(async () => {
    const audio = await new OfflineAudioContext(1, 8000, 8000).decodeAudioData(${bytesOf(file)}.buffer)
    const limited = audio.getChannelData(0).map((sample) => Math.max(-1, Math.min(1, sample)))
    const bytes = new Uint8Array(Int16Array.from(limited, (sample) => sample * 32767).buffer)
    let text = ''
    for (let at = 0; at < bytes.length; at += 8192)
      text += String.fromCharCode(...bytes.subarray(at, at + 8192))
    return btoa(text)
  })()`)
  const decoded = new Int16Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer)
  const times = soundTimes(file)
  const sound = new Int16Array(8 * ((times.at(-1) ?? 0) + 20))
  for (const [i, atMs] of times.entries()) sound.set(decoded.subarray(160 * i, 160 * (i + 1)), 8 * atMs)
  return sound
}

/**
 * Returns the delays of the sounds after the nearest flash of a page with {@link flashAndBeep}, in ms, in
 * order.
 */
export const stepsOf = ({ frames, sounds }: PlayedFile, file: Buffer): readonly number[] => {
  const times = soundTimes(file)
  const flashes = frames
    .filter(({ rgb }, i) => rgb[1] > 128 && (frames[i - 1]?.rgb[1] ?? 255) < 128)
    .map(({ atMs }) => atMs)
  return flashes
    .map((flash) => {
      const delays = sounds.map((ms) => times[Math.floor(ms / 20)]! + (ms % 20) - flash)
      return delays.reduce((best, delay) => (Math.abs(delay) < Math.abs(best) ? delay : best), 1000)
    })
    .sort((a, b) => a - b)
}
