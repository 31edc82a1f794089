import { useEffect, useRef, useState } from 'preact/hooks'
import { openDevices, playTestSound } from '../device-trial.ts'
import type { DeviceKind } from '../devices.ts'
import { endMessage } from '../messages.ts'
import { texts } from '../texts/language.ts'
import { laterTexts } from '../texts/later.ts'
import { Level } from './level.tsx'
import { usePage } from './page.ts'

/** Choice of a device. */
export const DevicePicker = ({
  kind,
  prefix = '',
}: {
  readonly kind: DeviceKind
  readonly prefix?: string
}) => {
  const { devices, phone } = usePage()
  const t = texts.value
  const id = `${prefix}device-${kind}`
  return (
    <div class="setting">
      <label for={id}>{t[kind]}</label>
      <select
        id={id}
        data-testid={id}
        value={devices.chosen(kind) ?? ''}
        onChange={({ currentTarget }) => void phone.controls.choose(kind, currentTarget.value || undefined)}
      >
        <option value="">{laterTexts().browserDefault}</option>
        {devices
          .list(kind)
          .filter(({ id: device }) => device !== 'default')
          .map((device) => (
            <option key={device.id} value={device.id}>
              {device.label}
            </option>
          ))}
      </select>
    </div>
  )
}

/** Opens the devices while `on`, and reopens them after another choice. Returns the stream and the fault. */
export const useTrial = (on: boolean, video: boolean) => {
  const { devices, microphone } = usePage()
  const [stream, setStream] = useState<MediaStream | undefined>(undefined)
  const [fault, setFault] = useState('')
  const chosen = `${devices.chosen('microphone')} ${video && devices.chosen('camera')}`
  useEffect(() => {
    if (!on) return
    let closed = false
    let opened: MediaStream | undefined
    const release = () => {
      for (const track of opened?.getTracks() ?? []) track.stop()
    }
    const run = async () => {
      try {
        opened = await openDevices(devices, video)
        if (closed) return release()
        setStream(opened)
        setFault('')
      } catch (error) {
        if (!closed) setFault(endMessage(error))
      }
      void devices.refresh()
      void microphone.refresh()
    }
    void run()
    return () => {
      closed = true
      release()
      setStream(undefined)
    }
  }, [on, chosen])
  return { stream, fault }
}

const Preview = ({ stream }: { readonly stream: MediaStream }) => {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    if (!video.current) return
    video.current.muted = true
    video.current.srcObject = stream
  }, [stream])
  return (
    <video
      ref={video}
      class="trial-picture"
      autoplay
      muted
      playsInline
      aria-label={laterTexts().yourCamera}
    />
  )
}

/** Test sound of the loudspeaker. */
export const SpeakerTest = () => {
  const { audio, devices } = usePage()
  return (
    <button
      type="button"
      class="plain"
      data-testid="try-speaker"
      onClick={() => void playTestSound(audio(), devices.chosen('speaker')).catch(() => {})}
    >
      {laterTexts().testSpeaker}
    </button>
  )
}

/** Test of microphone, camera and loudspeaker. */
export const DeviceTrial = () => {
  const [on, setOn] = useState(false)
  const { stream, fault } = useTrial(on, true)
  const t = texts.value
  return (
    <div class="trial">
      {stream && stream.getVideoTracks().length > 0 && <Preview stream={stream} />}
      {stream && <Level stream={stream} label={t.yourLevel} testId="trial-level" class="meter" />}
      <p class="fault" role="alert">
        {on ? fault : ''}
      </p>
      <div class="row">
        <button type="button" class="plain" data-testid="try-devices" onClick={() => setOn(!on)}>
          {on ? laterTexts().stopTest : laterTexts().testDevices}
        </button>
        <SpeakerTest />
      </div>
    </div>
  )
}
