import type { Call } from '@trunkline/client'
import type { ComponentChildren } from 'preact'
import { texts } from '../texts/language.ts'
import { Icon, type IconName } from './icon.tsx'
import { usePage } from './page.ts'

/** Properties of a {@link Tool}. */
export interface ToolProps {
  readonly name: string
  readonly icon: IconName
  readonly label: string
  readonly press: () => void
  /** State of a toggle button. */
  readonly on?: boolean
  readonly expanded?: boolean
  /** Default true. */
  readonly enabled?: boolean
  /** Name for assistive technology, default the label. */
  readonly title?: string
  /** Marks on the button. */
  readonly children?: ComponentChildren
}

/** Button of a call or a room: an icon above its label. */
export const Tool = ({
  name,
  icon,
  label,
  press,
  on,
  expanded,
  enabled = true,
  title = label,
  children,
}: ToolProps) => (
  <button
    type="button"
    class="tool"
    title={title}
    aria-label={title}
    aria-pressed={on}
    aria-expanded={expanded}
    disabled={!enabled}
    data-testid={name}
    onClick={press}
  >
    <Icon name={icon} />
    <span>{label}</span>
    {children}
  </button>
)

/** Button that ends the call; the focus goes to it when the call begins. */
export const HangUp = ({ icon, label }: Pick<ToolProps, 'icon' | 'label'>) => {
  const { phone } = usePage()
  return (
    <button
      type="button"
      class="hang-up"
      data-testid="hangup"
      data-focus="hangup"
      title={label}
      onClick={() => phone.controls.hangup()}
    >
      <Icon name={icon} />
      <span>{label}</span>
    </button>
  )
}

/** Properties of the buttons for a call's media. */
export interface MediaToolProps {
  readonly call: Call
}

/** Button for the own microphone. */
export const MuteTool = ({ call }: MediaToolProps) => {
  const { phone } = usePage()
  const isMuted = call.muted.audio
  return (
    <Tool
      name="mute"
      icon={isMuted ? 'microphoneOff' : 'microphone'}
      label={isMuted ? texts.value.unmute : texts.value.mute}
      on={isMuted}
      enabled={call.state !== 'held'}
      press={() => phone.controls.toggleMute()}
    />
  )
}

/** Buttons for the own camera and, where the browser can share one, the own screen. */
export const VideoTools = ({ call }: MediaToolProps) => {
  const { phone } = usePage()
  const t = texts.value
  const isTalking = call.state === 'active'
  const sendsVideo = call.active && call.video.local
  const isSharing = call.active && call.screenShareList.some(({ state }) => state !== 'ended')
  return (
    <>
      <Tool
        name="camera"
        icon={sendsVideo ? 'camera' : 'cameraOff'}
        label={sendsVideo ? t.stopVideo : t.video}
        on={sendsVideo}
        enabled={isTalking}
        press={() => void phone.controls.toggleCamera()}
      />
      {typeof navigator.mediaDevices?.getDisplayMedia === 'function' && (
        <Tool
          name="share"
          icon="screen"
          label={isSharing ? t.stopSharing : t.share}
          on={isSharing}
          enabled={isTalking}
          press={() => void phone.controls.toggleShare()}
        />
      )}
    </>
  )
}
