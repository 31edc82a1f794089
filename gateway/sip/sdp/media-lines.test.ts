import { describe, expect, it } from 'vitest'
import { mediaLines } from './media-lines.ts'
import { refusingSdp } from './refusing-sdp.ts'

describe('m-lines of a description with other faults', () => {
  it('are parsed without changes', () => {
    const sdp = 'v=0\r\nnonsense\r\nm=audio 49170/2 RTP/AVP 0 8 \r\nm=video 0 UDP/TLS/RTP/SAVPF 96\nm=x'
    expect(mediaLines(sdp)).toEqual([
      { media: 'audio', port: 49_170, protocol: 'RTP/AVP', formats: '0 8' },
      { media: 'video', port: 0, protocol: 'UDP/TLS/RTP/SAVPF', formats: '96' },
    ])
  })

  it.each(['m=audio x RTP/AVP 0', 'm=audio 1 RTP/AVP', ' m=audio 1 RTP/AVP 0', 'a=m=audio 1 RTP/AVP 0'])(
    'are ignored: %j',
    (line) => {
      expect(mediaLines(line)).toEqual([])
    },
  )

  it.each(['m=au"dio 1 RTP/AVP 0', 'm=audio 1 RTP?AVP 0', 'm=audio 1 RTP/AVP 0;', 'm=audio 1 RTP/AVP  0'])(
    'are not repeated in an answer: %j',
    (line) => {
      expect(refusingSdp(`v=0\r\n${line}\r\n`)).toBeUndefined()
    },
  )
})
