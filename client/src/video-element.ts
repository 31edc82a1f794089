import type { Call } from './call.ts'

/** An element that shows what the far side of a call films, or what we do. */
export interface CallVideo {
  readonly element: HTMLVideoElement
  /** Removes the element; the end of the call does it too, at once where it is over. Idempotent. */
  unsubscribe(): void
}

/** Options of {@link buildVideoElement}. */
export interface CallVideoOptions {
  readonly call: Pick<Call, 'remoteStream' | 'localStream' | 'on' | 'off' | 'state'>
  /** Where the element is put; default: placing it is the application's. */
  readonly rootElement?: HTMLElement
  /** `local`: our own camera, mirrored as a preview is. Default `remote`. */
  readonly stream?: 'remote' | 'local'
}

/** Makes a `<video>` for a call without `rootElement`, or for a preview. It is silent: the call plays its sound itself. */
export const buildVideoElement = async (options: CallVideoOptions): Promise<CallVideo> => {
  const { call, rootElement, stream = 'remote' } = options
  const element = (rootElement?.ownerDocument ?? document).createElement('video')
  element.autoplay = true
  element.muted = true
  element.setAttribute('playsinline', '')
  if (stream === 'local') element.style.transform = 'scaleX(-1)'
  // Our own stream is there once the first device is open.
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
