import type { Call } from './call.ts'

/** Element that shows the video of the far side or of the user's camera. */
export interface CallVideo {
  readonly element: HTMLVideoElement
  /** Removes the element; the end of the call does so as well. Idempotent. */
  unsubscribe(): void
}

/** Options of {@link buildVideoElement}. */
export interface CallVideoOptions {
  readonly call: Pick<Call, 'remoteStream' | 'localStream' | 'on' | 'off' | 'state'>
  /** Parent of the element; by default the application places it. */
  readonly rootElement?: HTMLElement
  /** `local`: the user's camera, mirrored for a preview. Default `remote`. */
  readonly stream?: 'remote' | 'local'
}

/**
 * Creates a `<video>` for a call without `rootElement`, or for a preview. The element is muted, because the
 * call plays its audio itself.
 */
export const buildVideoElement = async (options: CallVideoOptions): Promise<CallVideo> => {
  const { call, rootElement, stream = 'remote' } = options
  const element = (rootElement?.ownerDocument ?? document).createElement('video')
  element.autoplay = true
  element.muted = true
  element.setAttribute('playsinline', '')
  if (stream === 'local') element.style.transform = 'scaleX(-1)'
  // The local stream exists once the first device is open.
  const show = () => {
    const wanted = (stream === 'local' ? call.localStream : call.remoteStream) ?? null
    if (element.srcObject !== wanted) element.srcObject = wanted
  }
  const unsubscribe = () => {
    call.off('destroy', unsubscribe)
    call.off('state', show)
    call.off('video', show)
    element.srcObject = null
    element.remove()
  }
  show()
  call.on('state', show)
  call.on('video', show)
  call.on('destroy', unsubscribe)
  rootElement?.append(element)
  if (call.state === 'ended') unsubscribe()
  return { element, unsubscribe }
}
