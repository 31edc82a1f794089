/** Functions of a page for separate cameras: sending with simulcast, and reading of each line. */
export interface PageTracks {
  /** Sends a picture of 640 × 360 pixels in three sizes, and receives video on a further m-line. */
  simulcast(colour: string): Promise<void>
  /** Answers the offer of lines over a connection of its own. */
  answerTracks(sdp: string): Promise<string>
  tracksSeen(): Promise<readonly SeenTrack[]>
  /** Returns the widths of the encodings that are sent, without those that are not. */
  sentWidths(): Promise<readonly number[]>
}

/** Video of one line that ever received a frame. */
export interface SeenTrack {
  readonly mid: string
  readonly frames: number
  /** Number of streams that were received at the times of all calls. */
  readonly streams: number
  readonly width: number
  readonly colour: string
}

/** Runs in the page, after {@link videoScript}; `pc` is its first connection. */
export const tracksScript = `
const tracks = (() => {
  let lines
  const elements = new Map()
  const ssrcs = new Map()
  const pixelOf = (element) => {
    const { videoWidth: width, videoHeight: height } = element
    if (width === 0) return [0, 0, 0]
    const context = new OffscreenCanvas(1, 1).getContext('2d')
    context.drawImage(element, width / 2, height / 4, 1, 1, 0, 0, 1, 1)
    return context.getImageData(0, 0, 1, 1).data
  }
  return {
    simulcast: async (colour) => {
      const stream = await video.picture(colour, { width: 640, height: 360 })
      pc.addTransceiver(stream.getVideoTracks()[0], {
        direction: 'sendonly',
        streams: [stream],
        sendEncodings: [
          { rid: 'q', scaleResolutionDownBy: 4, maxBitrate: 150_000 },
          { rid: 'h', scaleResolutionDownBy: 2, maxBitrate: 500_000 },
          { rid: 'f', maxBitrate: 1_000_000 },
        ],
      })
      pc.addTransceiver('video', { direction: 'recvonly' })
    },
    answerTracks: async (sdp) => {
      lines = new RTCPeerConnection()
      lines.ontrack = ({ track, transceiver }) => {
        const element = Object.assign(document.createElement('video'), { muted: true, playsInline: true, autoplay: true })
        element.srcObject = new MediaStream([track])
        document.body.append(element)
        elements.set(transceiver.mid, element)
      }
      await lines.setRemoteDescription({ type: 'offer', sdp })
      await lines.setLocalDescription(await lines.createAnswer())
      await new Promise((resolve) => {
        const check = () => lines.iceGatheringState === 'complete' && resolve()
        lines.addEventListener('icegatheringstatechange', check)
        check()
      })
      return lines.localDescription.sdp
    },
    tracksSeen: async () => {
      const inbound = [...(await lines.getStats()).values()].filter((s) => s.type === 'inbound-rtp')
      for (const { mid, ssrc, framesDecoded } of inbound)
        if (framesDecoded > 0) ssrcs.set(mid, (ssrcs.get(mid) ?? new Set()).add(ssrc))
      return [...elements].map(([mid, element]) => ({
        mid,
        frames: inbound.filter((s) => s.mid === mid).reduce((sum, s) => sum + s.framesDecoded, 0),
        streams: ssrcs.get(mid)?.size ?? 0,
        width: element.videoWidth,
        colour: video.colourOf(pixelOf(element)),
      })).filter(({ frames }) => frames > 0)
    },
    sentWidths: async () => {
      const all = [...(await pc.getStats()).values()]
      return all.filter((s) => s.type === 'outbound-rtp' && s.framesSent > 0 && s.rid).map((s) => s.frameWidth)
    },
  }
})()
`
