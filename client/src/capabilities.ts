import type { CallCapabilities, MemberCapabilities } from './member-types.ts'

/** Whether a grant equals the capability or includes it: `self` grants `self.mute.audio.off`. */
export const allows = (grants: readonly string[], capability: string): boolean =>
  grants.some((grant) => capability === grant || capability.startsWith(`${grant}.`))

/** Converts the gateway's list of grants. */
export const capabilitiesOf = (grants: readonly string[]): CallCapabilities => {
  const may = (capability: string) => allows(grants, capability)
  const onOff = (capability: string) => ({ on: may(`${capability}.on`), off: may(`${capability}.off`) })
  const to = (who: 'self' | 'member'): MemberCapabilities => ({
    muteAudio: onOff(`${who}.mute.audio`),
    muteVideo: onOff(`${who}.mute.video`),
    microphoneVolume: may(`${who}.microphone.volume.set`),
    microphoneSensitivity: may(`${who}.microphone.sensitivity.set`),
    speakerVolume: may(`${who}.speaker.volume.set`),
    deaf: onOff(`${who}.deaf`),
    raisehand: onOff(`${who}.raisehand`),
    position: may(`${who}.position.set`),
    meta: may(`${who}.meta`),
    remove: may(`${who}.remove`),
    audioFlags: may(`${who}.audioflags.set`),
  })
  return {
    self: to('self'),
    member: to('member'),
    end: may('end'),
    setLayout: may('layout.set'),
    sendDigit: may('digit.send'),
    vmutedHide: onOff('vmuted.hide'),
    lock: onOff('lock'),
    device: may('device'),
    screenshare: may('screenshare'),
  }
}
