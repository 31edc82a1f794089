/** Delays of the first picture after a join. */
import { isKeyFrame } from '../../media/rooms/vp8-descriptor.ts'
import { until } from '../../test/support/until.ts'
import { FrameLog } from './picture-delays.ts'
import { RoomGateway } from './room-gateway.ts'
import { printFigure } from './rooms/figures.ts'

const room = 'lounge'

/** Prints the times from an offer to the media and to the first picture, in a room with one other member. */
export const joinDelays = async (picture: 'auto' | 'speaker', joins: number): Promise<void> => {
  const rig = await RoomGateway.start({ rooms: [room], picture, people: 2, members: 3 })
  const connected: number[] = []
  const shown: number[] = []
  try {
    await rig.browser(0, room, { hasVideo: true })
    for (let i = 0; i < joins; i++) {
      const log = new FrameLog()
      const bot = await rig.browser(1, room, { hasVideo: true, onVideo: (packet) => log.receive(packet) })
      connected.push(performance.now() - bot.dialledAt)
      const first = await until(
        'a picture',
        () => log.frames.find(({ data }) => isKeyFrame(data)),
        (frame) => frame !== undefined,
      )
      shown.push(first!.at - bot.dialledAt)
      await bot.leave()
    }
  } finally {
    await rig.stop()
  }
  printFigure(`Offer to connected media, picture ${picture}`, connected)
  printFigure('– to the first picture', shown, { p95: 1000 })
}
