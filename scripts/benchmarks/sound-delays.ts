/** Delays of sound between simulated telephones and browsers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { loadCodecs } from '../../media/codecs/codecs.ts'
import { decode } from '../../media/codecs/g711.ts'
import { readRtp, rtpView } from '../../media/rtp/packet.ts'
import { encodeAll } from './mixing.ts'
import { RoomGateway } from './room-gateway.ts'
import { printFigure } from './rooms/figures.ts'
import { Ear, Tones, toneCycle } from './tones.ts'

const room = 'lounge'
/** Time in ms until the jitter buffers know their delay. */
const settleMs = 6_000
const rounds = 4
const packetMs = 20

/** Prints the delays between a telephone and a browser in a room, each way: goal G8. */
export const soundDelays = async (seconds: number): Promise<void> => {
  const codecs = await loadCodecs()
  const decoder = codecs.decoder('opus', 16_000)
  const samples = new Int16Array(16_000)
  const view = rtpView()
  const payloads = encodeAll(codecs, 'PCMU', 8000, toneCycle(8000))
  const toPhone: number[] = []
  const toBrowser: number[] = []
  const rig = await RoomGateway.start({ rooms: [room], sound: 'tones', people: 1, members: 2 })
  try {
    for (let round = 0; round < rounds; round++) {
      const atBrowser = new Ear()
      const atPhone = new Ear()
      rig.sources.tones!.pause(packetMs / rounds)
      const browser = await rig.browser(0, room, {
        speaks: true,
        hasVideo: true,
        onAudio: (packet) => {
          if (!readRtp(packet, view)) return
          atBrowser.hear(samples.subarray(0, decoder.decode(packet, view.start, view.end, samples)))
        },
      })
      const phone = await rig.phone(room, (payload) => atPhone.hear(decode('PCMU', payload)))
      const tones = new Tones(payloads, (payload, ms) => phone.sendAudio(payload, ms))
      await sleep(settleMs)
      const begun = performance.now()
      await sleep((seconds * 1000) / rounds)
      tones.stop()
      toPhone.push(...atPhone.delays(rig.sources.tones!.at, begun))
      toBrowser.push(...atBrowser.delays(tones.at, begun))
      await Promise.all([browser.leave(), phone.leave()])
    }
  } finally {
    decoder.close()
    await rig.stop()
  }
  printFigure('Packet of a browser to the packet at the telephone', toPhone, { p95: 60 })
  printFigure('Packet of a telephone to the packet at the browser', toBrowser, { p95: 60 })
}
