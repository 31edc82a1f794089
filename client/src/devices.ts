import { ClientError } from './errors.ts'

const kinds = { microphone: 'audioinput', camera: 'videoinput', speaker: 'audiooutput' } as const

const devicesOf = async (kind: keyof typeof kinds): Promise<MediaDeviceInfo[]> => {
  const { mediaDevices } = navigator
  if (!mediaDevices?.enumerateDevices)
    throw new ClientError('insecure_page', 'The browser names no devices to a page without TLS.')
  const all = await mediaDevices.enumerateDevices()
  // Without permission for the microphone or camera, browsers report one device without an id.
  return all.filter((device) => device.kind === kinds[kind] && device.deviceId !== '')
}

/** Returns the cameras; empty until the user has granted access to one. Rejects with `insecure_page`. */
export const getCameraDevices = (): Promise<MediaDeviceInfo[]> => devicesOf('camera')

/** Returns the microphones; see {@link getCameraDevices}. */
export const getMicrophoneDevices = (): Promise<MediaDeviceInfo[]> => devicesOf('microphone')

/**
 * Returns the loudspeakers; empty also if the browser does not let pages choose one. Rejects with
 * `insecure_page`.
 */
export const getSpeakerDevices = (): Promise<MediaDeviceInfo[]> => devicesOf('speaker')
