/** Stages of pictures in a composing process, without a gateway. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createComposers } from '../../media/compose/composers.ts'
import { loadPictures } from '../../media/compose/pictures.ts'
import { unitsPerMs } from '../../media/compose/vp8-packetizer.ts'
import { parseRtcp } from '../../media/rtp/rtcp.ts'
import type { ComposedPicture } from '../../media/types.ts'
import { every, recording } from './bot-sources.ts'
import { grid, Member } from './compose.ts'
import { FrameLog, type Shown, shownIn } from './picture-delays.ts'
import { printFigure } from './rooms/figures.ts'

const settleMs = 4000
const frameMs = 1000 / 30

/** Frames of the composed picture, and the times at which they were drawn. */
class Viewer {
  readonly log = new FrameLog()
  /** Time of the drawing minus media time, in ms. */
  #offset = 0

  constructor(picture: ComposedPicture) {
    picture.onPacket((rendition, packet, kind) => {
      if (rendition !== 'high') return
      if (kind === 'rtp') return this.log.receive(packet)
      for (const report of parseRtcp(packet) ?? [])
        if (report.kind === 'sender')
          this.#offset = report.info.at - performance.timeOrigin - report.info.timestamp / unitsPerMs
    })
  }

  drawnAt({ frame }: Shown): number {
    return frame.timestamp / unitsPerMs + this.#offset
  }
}

/** Lets cameras send to a picture, each at a moment of its own. Returns the cameras after some seconds. */
const play = async (picture: ComposedPicture, count: number, seconds: number): Promise<Member[]> => {
  const frames = recording()
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const members: Member[] = []
  const stops: (() => void)[] = []
  for (let at = 0; at < count; at++) {
    const stream = { ssrc: 100 + at, payloadType: 96, from: socket.address() }
    const { port } = await picture.addSource(`m${at}`, stream)
    const member = new Member(socket, stream.ssrc, port)
    members.push(member)
    await sleep(frameMs / count)
    stops.push(every(frameMs, () => member.send(frames)))
  }
  picture.enableLow(true)
  picture.draw(grid(count, false))
  picture.requestKeyFrame()
  await sleep(settleMs + seconds * 1000)
  for (const stop of stops) stop()
  socket.close()
  return members
}

/** Prints the stages of the pictures of some cameras. */
export const composerDelays = async (count: number, seconds: number): Promise<void> => {
  const composers = createComposers({ processes: 1 })
  const picture = await composers.open()
  const viewer = new Viewer(picture)
  const members = await play(picture, count, seconds)
  await composers.close()
  const begun = performance.now() - seconds * 1000
  const shown = grid(count, false)
    .flatMap((part, at) => shownIn(viewer.log, loadPictures(), members[at]!.sentAt, part))
    .filter(({ sentAt }) => sentAt > begun)
  const print = (what: string, ms: (each: Shown) => number) => printFigure(what, shown.map(ms))
  print(`Composer of ${count}: camera sent to composed packets`, ({ sentAt, frame }) => frame.at - sentAt)
  print(
    '– sent to drawn: transport, decoding, wait for its turn',
    (each) => viewer.drawnAt(each) - each.sentAt,
  )
  print('– drawn to sent: drawing, encoding, pipe', (each) => each.frame.at - viewer.drawnAt(each))
}
