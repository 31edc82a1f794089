import { ClientError } from './errors.ts'

const kinds = { microphone: 'audioinput', camera: 'videoinput', speaker: 'audiooutput' } as const

const devicesOf = async (kind: keyof typeof kinds): Promise<MediaDeviceInfo[]> => {
  const { mediaDevices } = navigator
  if (!mediaDevices?.enumerateDevices)
    throw new ClientError('insecure_page', 'The browser names no devices to a page without TLS.')
  const all = await mediaDevices.enumerateDevices()
  // Before the person has allowed the microphone or camera, browsers tell of one device without an id.
  return all.filter((device) => device.kind === kinds[kind] && device.deviceId !== '')
}

/** The cameras. Empty until the person has allowed one to the page. Rejects with `insecure_page`. */
export const getCameraDevices = (): Promise<MediaDeviceInfo[]> => devicesOf('camera')

/** The microphones, as {@link getCameraDevices}. */
export const getMicrophoneDevices = (): Promise<MediaDeviceInfo[]> => devicesOf('microphone')

/** The loudspeakers. Empty too where the browser lets no page choose one. Rejects with `insecure_page`. */
export const getSpeakerDevices = (): Promise<MediaDeviceInfo[]> => devicesOf('speaker')
