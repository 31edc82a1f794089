/**
 * Scripts of pages: a camera that shows its clock, a voice on demand, and a watcher of frames and sounds. All
 * pages of a machine have the same clock.
 */
import type { Page } from 'playwright-core'
import type { Colour } from '../../../test/support/page-video.ts'

/** Bits of the clock in the picture; its unit is 2 ms, so that it repeats after 8.2 s. */
export const clockBits = 12

/**
 * Returns the clock in a row of grey values, 8 for each bit; undefined: not readable. Runs in pages too,
 * so it uses nothing else of this file.
 */
export const clockIn = (row: ArrayLike<number>): number | undefined => {
  const bits = row.length / 8 - 1
  let gray = 0
  let ones = 0
  for (let bit = 0; bit <= bits; bit++) {
    const isOne = row[8 * bit + 4]! > 127 ? 1 : 0
    ones += isOne
    if (bit < bits) gray |= isOne << bit
  }
  let time = gray
  for (let shift = 1; shift < bits; shift <<= 1) time ^= time >> shift
  return ones % 2 === 0 ? time : undefined
}

/** Rectangle of a member in a picture, in percent. */
export interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A frame that a page has decoded. Times in ms. */
export interface SeenFrame {
  readonly at: number
  /** Colour of the upper middle of the rectangle; empty for any other. */
  readonly colour: Colour | ''
  /** Time from the painting of the camera's picture to the frame; undefined: the clock was not readable. */
  readonly delay?: number
}

/**
 * Worker of a microphone, with steps of 10 ms. It is silent but for the sounds that it is asked for, and
 * posts the time of the first sample of each. Its speech has a pitch of 110 to 150 Hz with two formants.
 * Syllables last 140 to 220 ms, and the pauses between them 40 to 90 ms.
 */
const voiceWorker = `
  const rate = 48000
  const size = rate / 100
  let [left, kind, at, phase, syllable] = [0, 'tone', 0, 0]
  const nextSyllable = () => {
    at = 0
    const pitch = 110 + 40 * Math.random()
    const formants = [400 + 400 * Math.random(), 1000 + 1000 * Math.random()]
    const weights = Array.from({ length: 20 }, (_, i) =>
      formants.reduce((sum, formant) => sum + Math.exp(-(((pitch * (i + 1) - formant) / 250) ** 2)), 0.05))
    const wave = Float32Array.from({ length: 2048 }, (_, j) =>
      weights.reduce((sum, weight, i) => sum + weight * Math.sin((2 * Math.PI * (i + 1) * j) / 2048), 0))
    const length = Math.min(0.14 + 0.08 * Math.random(), left)
    syllable = { wave, pitch, length, pause: 0.04 + 0.05 * Math.random() }
  }
  const spoken = () => {
    if (!syllable || at > syllable.length + syllable.pause) nextSyllable()
    at += 1 / rate
    phase = (phase + syllable.pitch / rate) % 1
    const loudness = Math.max(0, Math.min(1, at / 0.02, (syllable.length - at) / 0.04))
    return 0.12 * loudness * syllable.wave[Math.floor(phase * 2048)]
  }
  const tone = () => {
    phase = (phase + 2000 / rate) % 1
    return 0.5 * Math.sin(2 * Math.PI * phase)
  }
  const sample = () => {
    if (left <= 0) return 0
    left -= 1 / rate
    return kind === 'tone' ? tone() : spoken()
  }
  onmessage = ({ data }) => {
    if (data.writable) return run(data)
    ;[left, kind, syllable] = [data.ms / 1000, data.kind]
    isNew = true
  }
  let isNew = false
  const run = ({ writable, noise }) => {
    const writer = writable.getWriter()
    const begun = performance.now()
    let steps = 0
    setInterval(() => {
      for (; steps < (performance.now() - begun) / 10; steps++) {
        if (isNew) postMessage(Date.now())
        isNew = false
        const samples = Float32Array.from({ length: size }, () => sample() + noise * (Math.random() - 0.5))
        const format = { format: 'f32-planar', sampleRate: rate, numberOfFrames: size, numberOfChannels: 1 }
        writer.write(new AudioData({ ...format, timestamp: steps * 10000, data: samples }))
      }
    }, 5)
  }`

/** Worker that posts the times of sounds that begin after 100 ms of silence. */
const earWorker = `onmessage = async ({ data: readable }) => {
  let quiet = 0
  for await (const audio of readable) {
    const now = Date.now()
    const samples = new Float32Array(audio.numberOfFrames)
    audio.copyTo(samples, { planeIndex: 0, format: 'f32-planar' })
    samples.forEach((sample, i) => {
      if (Math.abs(sample) < 0.03) return quiet++
      if (quiet > audio.sampleRate / 10) postMessage(now + (1000 * i) / audio.sampleRate)
      quiet = 0
    })
    audio.close()
  }
}`

/**
 * Worker that posts each decoded frame with what a rectangle of it shows. It reads I420 samples, so that
 * the page need not draw.
 */
const eyeWorker = `
  const clockIn = ${clockIn}
  const colourOf = (y, u, v) => {
    const red = y + 1.4 * (v - 128)
    const blue = y + 1.77 * (u - 128)
    const green = y - 0.34 * (u - 128) - 0.71 * (v - 128)
    const isOn = (value) => value > 150
    const isOff = (value) => value < 110
    if (isOn(red) && isOff(blue)) return isOn(green) ? 'yellow' : isOff(green) ? 'red' : ''
    if (isOff(red)) return isOn(green) && isOff(blue) ? 'lime' : isOn(blue) && isOff(green) ? 'blue' : ''
    return ''
  }
  let bytes = new Uint8Array(0)
  onmessage = async ({ data: { readable, rectangle } }) => {
    for await (const frame of readable) {
      const at = Date.now()
      const size = frame.allocationSize()
      if (bytes.length < size) bytes = new Uint8Array(size)
      const [luma, u, v] = await frame.copyTo(bytes)
      const sample = (plane, x, y, part) => {
        const left = (rectangle.x + rectangle.width * x) / 100 * frame.visibleRect.width / part
        const top = (rectangle.y + rectangle.height * y) / 100 * frame.visibleRect.height / part
        return bytes[plane.offset + Math.floor(top) * plane.stride + Math.floor(left)]
      }
      const colour = colourOf(sample(luma, 0.5, 0.25, 1), sample(u, 0.5, 0.25, 2), sample(v, 0.5, 0.25, 2))
      const wide = ${8 * (clockBits + 1)}
      const time = clockIn(Array.from({ length: wide }, (_, i) => sample(luma, i / wide, 0.75, 1)))
      const delay = ((Math.floor(at / 2) - time + ${2 ** clockBits}) % ${2 ** clockBits}) * 2
      postMessage({ at, colour, format: frame.format, ...(delay < 4000 && { delay }) })
      frame.close()
    }
  }`

/** Camera and microphone of a person, in place of those of the browser. */
export interface PersonOptions {
  readonly colour: Colour
  /** Frames per second; default 30. */
  readonly rate?: number
  /** Whether the picture changes everywhere in each frame, so that it needs all bits it can get. */
  readonly isBusy?: boolean
  /** Peak-to-peak noise of the microphone, 1 is full scale; default 0.0005. */
  readonly noise?: number
  /** A further script of the page. */
  readonly probe?: string
}

/** Returns the script that replaces camera and microphone, and must run before those of the page. */
export const personScript = ({
  colour,
  rate = 30,
  isBusy = false,
  noise = 0.0005,
  probe = '',
}: PersonOptions): string => `(() => {
  const painted = (width, height) => {
    const canvas = Object.assign(document.createElement('canvas'), { width, height })
    const context = canvas.getContext('2d')
    const pixels = context.createImageData(width, height)
    const bar = width / ${clockBits + 1}
    const paint = () => {
      if (${isBusy}) {
        for (let i = 0; i < pixels.data.length; i++) pixels.data[i] = i % 4 === 3 ? 255 : Math.random() * 256
        context.putImageData(pixels, 0, 0)
        return
      }
      context.fillStyle = '${colour}'
      context.fillRect(0, 0, width, height / 2)
      const time = Math.floor(Date.now() / 2) % ${2 ** clockBits}
      const gray = time ^ (time >> 1)
      let ones = 0
      for (let bit = 0; bit <= ${clockBits}; bit++) {
        const isOne = bit < ${clockBits} ? (gray >> bit) & 1 : ones & 1
        ones += isOne
        context.fillStyle = isOne ? 'white' : 'black'
        context.fillRect(bit * bar, height / 2, bar + 1, height / 2)
      }
    }
    paint()
    setInterval(paint, ${1000 / rate})
    return canvas.captureStream(${rate}).getVideoTracks()[0]
  }
  const worker = (text) => new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })))
  let microphone
  const sound = () => {
    if (!microphone) {
      microphone = new MediaStreamTrackGenerator({ kind: 'audio' })
      globalThis.benchVoice = worker(${JSON.stringify(voiceWorker)})
      const { writable } = microphone
      benchVoice.postMessage({ writable, noise: ${noise} }, [writable])
    }
    return microphone.clone()
  }
  let camera
  navigator.mediaDevices.getUserMedia = async ({ audio: wantsAudio, video }) => {
    if (video) camera ??= painted(640, 360)
    return new MediaStream([...(wantsAudio ? [sound()] : []), ...(video ? [camera.clone()] : [])])
  }
  globalThis.benchSay = (kind, ms) => new Promise((resolve) => {
    benchVoice.onmessage = ({ data }) => resolve(data)
    benchVoice.postMessage({ kind, ms })
  })
  const incoming = (wanted) => testPeers.filter((peer) => peer.connectionState === 'connected')
    .flatMap((peer) => peer.getReceivers().map(({ track }) => track)).find(({ kind }) => kind === wanted)
  globalThis.benchListen = () => {
    globalThis.benchSounds = []
    const ear = worker(${JSON.stringify(earWorker)})
    ear.onmessage = ({ data }) => benchSounds.push(data)
    const { readable } = new MediaStreamTrackProcessor({ track: incoming('audio') })
    ear.postMessage(readable, [readable])
  }
  globalThis.benchWatch = (rectangle) => {
    globalThis.benchFrames = []
    const eye = worker(${JSON.stringify(eyeWorker)})
    eye.onmessage = ({ data }) => benchFrames.push(data)
    const { readable } = new MediaStreamTrackProcessor({ track: incoming('video') })
    eye.postMessage({ readable, rectangle }, [readable])
  }
})();
${probe}`

/** Speaks, or gives a tone of 2 kHz, for some ms. Returns the time of its first sample. */
export const say = (page: Page, kind: 'voice' | 'tone', ms: number): Promise<number> =>
  page.evaluate(`benchSay('${kind}', ${ms})`)

/** Keeps the times of incoming sounds from now on. */
export const listen = (page: Page): Promise<void> => page.evaluate('benchListen()')

/** Keeps the frames from now on, with what a rectangle of the picture shows. */
export const watch = (page: Page, rectangle: Rectangle = whole): Promise<void> =>
  page.evaluate(`benchWatch(${JSON.stringify(rectangle)})`)

/** The whole picture. */
export const whole: Rectangle = { x: 0, y: 0, width: 100, height: 100 }

/** Returns the times of sounds so far. */
export const soundsOf = (page: Page): Promise<number[]> => page.evaluate('benchSounds')

/** Returns the frames so far. */
export const framesOf = (page: Page): Promise<SeenFrame[]> => page.evaluate('benchFrames')
