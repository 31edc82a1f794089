import { afterAll, beforeAll, describe, it } from 'vitest'
import { application, script, scripted } from '../../support/applications.ts'
import { Carrier } from '../../support/carrier.ts'
import { Firefox, firefox } from '../../support/firefox.ts'
import { alice, type Gateway } from '../../support/gateway.ts'
import type { Colour } from '../../support/page-video.ts'
import { isInstalled } from '../../support/program.ts'
import { registeredPhone } from '../../support/registered.ts'
import { rest } from '../../support/rest.ts'
import { pagePeer, phonePeer, RoomOfPeers, type RoomPeer, trackPeer } from '../../support/room-peers.ts'
import type { SdkPage } from '../../support/sdk-page.ts'
import { sdkVersions } from '../../support/sdk-versions.ts'
import { TrackPage } from '../../support/track-page.ts'
import { patience } from '../../support/until.ts'

const address = '/public/hall?channel=video'
const desk = { username: 'desk', password: 'long-enough-1' }
/** Frequencies without common harmonics, which telephones carry. */
const tones = { pages: [769, 1013, 1361], firefox: 1787, caller: 431, endpoint: 577 } as const
const all = [tones.caller, tones.endpoint, ...tones.pages, tones.firefox]
/** Time-out of the telephones in ms, as {@link patience} multiplies it: the whole test. */
const timeoutMs = 300_000 / patience
const missing = ['sipp', firefox].filter((program) => !isInstalled(program))

/** Parts of the scenario that the room of six shares. */
export interface SixFixture {
  readonly gateway: Gateway
  /** Pages with the three versions of the published SDK. */
  readonly pages: readonly SdkPage[]
}

/** Microphones of the pages, in Hz. */
export const pageTones = tones.pages
/** Options of the gateway for the room of six. */
export const sixOptions = {
  sip: { registrar: { domains: ['pbx.test'] } },
  endpoints: [desk],
  domains: [application('hall.test', scripted({ join_room: { name: 'hall' } }))],
  subscribers: [{ ...alice, displayName: 'Alice' }],
}

/** A telephone that dials the room. */
const callerJoins = async (gateway: Gateway): Promise<RoomPeer> => {
  const phone = await Carrier.calls(gateway, { domain: 'hall.test', scenario: 'caller-released', timeoutMs })
  await phone.talks('answered', tones.caller)
  return phonePeer('the caller', tones.caller, phone)
}

/** A registered telephone that the gateway calls into the room. */
const endpointJoins = async (
  gateway: Gateway,
): Promise<{ readonly phone: Carrier; readonly peer: RoomPeer }> => {
  const phone = await registeredPhone(gateway, desk.username, desk.password, { timeoutMs })
  const swml = JSON.stringify(script({ join_room: { name: 'hall' } }))
  await rest(gateway, 'POST', '/api/calling/calls', {
    command: 'dial',
    params: { from: '+4930123', to: '/public/desk', swml },
  })
  await phone.talks('invited', tones.endpoint)
  return { phone, peer: phonePeer('the endpoint', tones.endpoint, phone) }
}

/** Id of the member with a name, or of a type, as a page lists it. */
const listed = async (page: SdkPage, fields: Readonly<Record<string, string>>): Promise<string> => {
  const { members } = (await page.do('getMembers')) as { members: Record<string, string>[] }
  const found = members.find((member) =>
    Object.entries(fields).every(([name, value]) => member[name] === value),
  )
  return found!.member_id!
}

/** Tests of one room with six members of five kinds. */
export const roomOfSix = (fixture: () => SixFixture, colours: readonly Colour[]): void => {
  describe.skipIf(missing.length > 0)(
    `a room of three versions of the SDK, Firefox, a caller and an endpoint${missing.length > 0 ? ` (no ${missing.join(', no ')})` : ''}`,
    () => {
      let mozilla: Firefox
      beforeAll(async () => {
        mozilla = await Firefox.start(tones.firefox)
      })
      afterAll(() => mozilla?.stop())

      it('is heard and seen truly by each member after each change', async () => {
        const { gateway, pages } = fixture()
        const [first, second, third] = pages as [SdkPage, SdkPage, SdkPage]
        const room = new RoomOfPeers(all)
        const joins = async (peer: RoomPeer): Promise<RoomPeer> => {
          room.present.add(peer)
          await room.isTrue(`${peer.name} joins`)
          return peer
        }
        const page = async (at: number): Promise<RoomPeer> => {
          await pages[at]!.dial(address, { video: true })
          const name = sdkVersions[at]!.version
          return joins(pagePeer(name, tones.pages[at]!, colours[at]!, pages[at]!))
        }
        await page(0)
        const a = await page(1)
        const caller = await joins(await callerJoins(gateway))
        const own = await TrackPage.join(mozilla, gateway, {
          email: alice.email,
          camera: 'yellow',
          tracks: 9,
          room: '/public/hall',
        })
        const fire = await joins(trackPeer('Firefox', tones.firefox, 'yellow', own))
        const { phone, peer: endpoint } = await endpointJoins(gateway)
        await joins(endpoint)
        const c = await page(2)

        await second.do('audioMute')
        room.muted.add(a)
        await room.isTrue('a page mutes itself')
        // Version 3.27 addresses only members that were there before it.
        await third.do('audioMute', { memberId: own.id })
        room.muted.add(fire)
        await room.isTrue('a page mutes Firefox')
        await second.do('audioUnmute')
        await third.do('audioUnmute', { memberId: own.id })
        room.muted.clear()
        await room.isTrue('both are unmuted')

        await third.do('videoMute')
        room.hidden.add(c)
        await room.isTrue('a page mutes its camera')
        await third.do('videoUnmute')
        room.hidden.clear()
        await room.isTrue('the camera is unmuted')

        await first.do('setLayout', { name: '5up' })
        room.layout = '5up'
        await room.isTrue('a page changes the layout')
        await first.do('setLayout', { name: 'grid-responsive' })
        room.layout = 'grid-responsive'

        await third.shareScreen()
        room.shared = { by: c, id: await listed(third, { type: 'screen' }) }
        await room.isTrue('a page shares its screen')
        await third.stopSharing()
        room.shared = undefined
        await room.isTrue('the screen ends')

        await third.do('removeMember', { memberId: await listed(third, { name: 'Carrier' }) })
        room.present.delete(caller)
        await room.isTrue('the caller is removed')
        await second.hangUp()
        room.present.delete(a)
        await room.isTrue('a page leaves')
        await phone.goesOn()
        await phone.done()
        room.present.delete(endpoint)
        await room.isTrue('the endpoint hangs up')
        await own.close()
        // Each of the changes may take up to 30 s.
      }, 300_000)
    },
  )
}
