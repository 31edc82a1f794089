import { type LevelMeter, levels, meterOf } from '@trunkline/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { usePage } from './page.ts'

/** Properties of a {@link Level}. */
export interface LevelProps {
  /** Stream to measure; undefined for none. */
  readonly stream: MediaStream | undefined
  readonly label: string
  readonly testId: string
  readonly class: string
  readonly children?: ComponentChildren
}

const drawMs = 66

/**
 * Level of a stream, about fifteen times a second: `data-level` is linear (0 to 1); `--level` and
 * `aria-valuenow` are logarithmic. It uses a timer: animation frames stop in a hidden tab.
 */
export const Level = ({ stream, label, testId, children, ...rest }: LevelProps) => {
  const { clock, audio } = usePage()
  const element = useRef<HTMLDivElement>(null)
  const usable = stream?.getAudioTracks().length ? stream : undefined
  useEffect(() => {
    const shown = element.current
    if (!shown || !usable) return
    const meter: LevelMeter = levels(usable, audio())
    const draw = (level: number) => {
      const seen = meterOf(level)
      shown.style.setProperty('--level', seen.toFixed(3))
      shown.dataset.level = level.toFixed(4)
      shown.setAttribute('aria-valuenow', String(Math.round(seen * 100)))
    }
    let timer = clock.after(0, step)
    function step() {
      draw(meter.level())
      timer = clock.after(drawMs, step)
    }
    return () => {
      timer.cancel()
      meter.close()
      draw(0)
    }
  }, [usable])
  return (
    <div
      ref={element}
      class={rest.class}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={0}
      data-testid={testId}
      data-level="0"
    >
      {children}
    </div>
  )
}
