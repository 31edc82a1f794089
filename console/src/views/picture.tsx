import { buildVideoElement, type Call, type CallVideo } from '@trunkline/client'
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { usePage } from './page.ts'
import { IconButton } from './parts.tsx'

/** Video of the far side. The SDK owns its element. */
export const Far = ({
  call,
  fills,
  far,
}: {
  readonly call: Call
  readonly fills: boolean
  readonly far: RefObject<CallVideo | null>
}) => {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let closed = false
    void buildVideoElement({ call, rootElement: place.current ?? undefined }).then((made) => {
      if (closed) return made.unsubscribe()
      far.current = made
      made.element.className = 'far'
      made.element.setAttribute('aria-label', laterTexts().theirVideo)
      made.element.dataset.testid = 'far-video'
    })
    return () => {
      closed = true
      far.current?.unsubscribe()
      far.current = null
    }
  }, [call])
  return <div ref={place} class={fills ? 'far-place fills' : 'far-place'} />
}

/** Properties of {@link Own}. */
export interface OwnProps {
  readonly track: MediaStreamTrack | null
  /** Default `self-view`: in a corner of the picture. */
  readonly class?: string
}

/** Picture of the user's own camera. */
export const Own = ({ track, ...rest }: OwnProps) => {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    const shown = video.current
    if (!shown) return
    // The attribute alone mutes only elements of the parser.
    shown.muted = true
    shown.srcObject = track ? new MediaStream([track]) : null
  }, [track])
  return (
    <video
      ref={video}
      class={rest.class ?? 'self-view'}
      autoplay
      muted
      playsInline
      aria-label={laterTexts().yourCamera}
      data-testid="own-video"
    />
  )
}

/** Properties of a {@link Picture}. */
export interface PictureProps {
  readonly call: Call
  /** Whether the user's camera is sent. */
  readonly local: boolean
  /** Whether the far side sends video. */
  readonly remote: boolean
  /** Panel that fills the screen on request. */
  readonly panel: RefObject<HTMLElement | null>
}

/** Video of a call: it fills the panel, with the user's camera in a corner. */
export const Picture = ({ call, local, remote, panel }: PictureProps) => {
  const far = useRef<CallVideo>(null)
  const [selfIsShown, showSelf] = useState(true)
  const [fills, fill] = useState(true)
  const isFull = useFullScreen()
  // A call changes in place.
  usePage()
  const t = texts.value
  const toggleFull = () =>
    void (isFull ? document.exitFullscreen() : panel.current?.requestFullscreen())?.catch(() => {})
  const floatOut = () => void far.current?.element.requestPictureInPicture().catch(() => {})
  return (
    <div class={remote ? 'picture' : 'picture self-only'} data-testid="picture">
      <div class="far-holder" hidden={!remote}>
        <Far call={call} fills={fills} far={far} />
      </div>
      {local && (selfIsShown || !remote) && <Own track={call.localVideoTrack} />}
      <div class="picture-tools" role="group" aria-label={t.video}>
        {local && remote && (
          <IconButton
            icon="eye"
            label={selfIsShown ? laterTexts().hideSelf : laterTexts().showSelf}
            press={() => showSelf(!selfIsShown)}
          />
        )}
        {remote && (
          <IconButton
            icon="fit"
            label={fills ? laterTexts().fitVideo : laterTexts().fillVideo}
            press={() => fill(!fills)}
          />
        )}
        {remote && document.pictureInPictureEnabled && (
          <IconButton
            icon="window"
            label={laterTexts().pictureInPicture}
            press={floatOut}
            testId="floating"
          />
        )}
        {document.fullscreenEnabled && (
          <IconButton
            icon="expand"
            label={isFull ? laterTexts().leaveFullScreen : laterTexts().fullScreen}
            press={toggleFull}
            testId="full-screen"
          />
        )}
      </div>
    </div>
  )
}

/** Whether an element of the page fills the screen. */
export const useFullScreen = (): boolean => {
  const [isFull, setFull] = useState(document.fullscreenElement !== null)
  useEffect(() => {
    const over = new AbortController()
    document.addEventListener('fullscreenchange', () => setFull(document.fullscreenElement !== null), over)
    return () => over.abort()
  }, [])
  return isFull
}
