/**
 * Functions of a page for video: sending of pictures of one colour with a moving bar, and reading of incoming
 * ones.
 */
export interface PageVideo {
  /** Sends a picture of this CSS colour and size, instead of an earlier one. A new m-line needs an offer. */
  camera(colour: string, size?: Size): Promise<void>
  /** Adds noise to the own picture, for a high bit rate: marks in each frame, default 400. */
  addNoise(marks?: number): void
  /** Counters of the incoming audio and video. */
  received(): Promise<Received>
  /** Sends a picture as a screen, with an m-line for receive-only audio after the video. */
  share(colour: string, size: Size): Promise<void>
  /** Sets the direction of the video m-line; `stopped` disables the line. Needs an offer. */
  turnVideo(direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive' | 'stopped'): void
  /** Restricts video to these codecs, in this order. */
  preferVideo(names: readonly string[]): void
  seen(): Promise<Seen>
}

interface Size {
  readonly width: number
  readonly height: number
}

/** Incoming video of the last track. */
export interface Seen {
  /** Number of decoded frames of all streams of the connection. */
  readonly frames: number
  /** Number of streams that were received at the times of all calls; each has its own decoder. */
  readonly streams: number
  readonly width: number
  readonly height: number
  /** Colour of the upper middle: `red`, `green`, `blue`, or `other`. */
  readonly colour: string
  /** Codec and payload type of the video. */
  readonly codec: string
}

/** Counters of an incoming connection, as the browser has them. */
export interface Received {
  readonly audioPackets: number
  readonly audioLost: number
  /** Samples that were made up for late and lost packets, at 48 kHz. */
  readonly audioConcealed: number
  readonly videoFrames: number
  readonly videoBytes: number
}

/** Runs in the page; `pc` is its connection, and the functions are the phone's. */
export const videoScript = `
const video = (() => {
  const element = document.createElement('video')
  element.muted = true; element.playsInline = true; element.autoplay = true
  document.addEventListener('DOMContentLoaded', () => document.body.append(element))
  pc.addEventListener('track', ({ track }) => {
    if (track.kind !== 'video') return
    element.srcObject = new MediaStream([track])
    element.play().catch(() => {})
  })
  const own = Object.assign(document.createElement('canvas'), { width: 320, height: 240 })
  const ssrcs = new Set()
  let colour, track, noise = 0
  const paint = () => {
    const context = own.getContext('2d')
    context.fillStyle = colour
    context.fillRect(0, 0, own.width, own.height)
    context.fillStyle = 'white'
    context.fillRect((performance.now() / 10) % own.width, own.height * 0.8, 10, own.height * 0.2)
    // In the lower half; the colour is read in the upper one.
    for (let i = 0; i < noise; i++) {
      context.fillStyle = 'hsl(' + Math.random() * 360 + ' 80% 50%)'
      context.fillRect(Math.random() * own.width, own.height / 2 + Math.random() * own.height / 2, 17, 13)
    }
  }
  const transceiver = () => pc.getTransceivers().find((t) => !t.stopped && t.receiver.track.kind === 'video')
  const colourOf = ([r, g, b]) =>
    r > 150 && g < 100 && b < 100 ? 'red' : g > 90 && r < 90 && b < 90 ? 'green' : b > 150 && r < 100 && g < 100 ? 'blue' : 'other'
  const phone = {
    colourOf,
    picture: async (name, size) => {
      colour = name
      if (size) Object.assign(own, size)
      paint()
      if (track) return
      const stream = own.captureStream(15)
      setInterval(paint, 66)
      track = stream.getVideoTracks()[0]
      return stream
    },
    camera: async (name, size) => {
      const stream = await phone.picture(name, size)
      if (!stream) return
      const there = transceiver()
      if (!there) return void pc.addTransceiver(track, { direction: 'sendrecv', streams: [stream] })
      await there.sender.replaceTrack(track)
      there.direction = 'sendrecv'
    },
    addNoise: (marks = 400) => { noise = marks },
    received: async () => {
      const all = [...(await pc.getStats()).values()].filter((s) => s.type === 'inbound-rtp')
      const sum = (kind, name) =>
        all.filter((s) => s.kind === kind).reduce((total, s) => total + (s[name] ?? 0), 0)
      return {
        audioPackets: sum('audio', 'packetsReceived'), audioLost: sum('audio', 'packetsLost'),
        audioConcealed: sum('audio', 'concealedSamples'),
        videoFrames: sum('video', 'framesDecoded'), videoBytes: sum('video', 'bytesReceived'),
      }
    },
    share: async (name, size) => {
      await phone.camera(name, size)
      transceiver().direction = 'sendonly'
      pc.addTransceiver('audio', { direction: 'recvonly' })
    },
    turnVideo: (direction) => {
      if (direction !== 'stopped') transceiver().direction = direction
      else { transceiver().stop(); track = undefined }
    },
    preferVideo: (names) => {
      const all = RTCRtpReceiver.getCapabilities('video').codecs
      transceiver().setCodecPreferences(names.flatMap((name) => all.filter((c) => c.mimeType === 'video/' + name)))
    },
    // As the published SDK does: if video came first in the offer, it expects audio first in the answer, and
    // swaps them.
    inOrder: (sdp) => {
      const places = (text) => [text.indexOf('m=audio'), text.indexOf('m=video')]
      const [offeredAudio, offeredVideo] = places(pc.localDescription?.sdp ?? '')
      if (offeredVideo < 0 || offeredAudio < offeredVideo) return sdp
      const [audio, picture] = places(sdp)
      return sdp.slice(0, audio) + sdp.slice(picture) + sdp.slice(audio, picture)
    },
    renumber: (sdp, numbers) => {
      const other = (number) => numbers[number] ?? number
      const start = sdp.indexOf('m=video')
      return sdp.slice(0, start) + sdp.slice(start)
        .replace(/^(a=(?:rtpmap|fmtp|rtcp-fb):)(\\d+)/gm, (_all, head, number) => head + other(number))
        .replace(/apt=(\\d+)/g, (_all, number) => 'apt=' + other(number))
        .replace(/^(m=video \\d+ \\S+ )(.*)$/m, (_all, head, list) => head + list.split(' ').map(other).join(' '))
    },
    seen: async () => {
      const all = [...(await pc.getStats()).values()]
      const inbound = all.filter((s) => s.type === 'inbound-rtp' && s.kind === 'video' && s.framesDecoded > 0)
      for (const { ssrc } of inbound) ssrcs.add(ssrc)
      const codec = all.find((s) => s.id === inbound.at(-1)?.codecId)
      const { videoWidth: width, videoHeight: height } = element
      let pixel = [0, 0, 0]
      if (width > 0) {
        const context = new OffscreenCanvas(1, 1).getContext('2d')
        context.drawImage(element, width / 2, height / 4, 1, 1, 0, 0, 1, 1)
        pixel = context.getImageData(0, 0, 1, 1).data
      }
      return {
        frames: inbound.reduce((sum, s) => sum + s.framesDecoded, 0),
        streams: ssrcs.size, width, height, colour: colourOf(pixel),
        codec: codec ? codec.mimeType.replace('video/', '') + ' ' + codec.payloadType : '',
      }
    },
  }
  return phone
})()
`
