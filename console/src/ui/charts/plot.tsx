import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import { stackSeries, type ChartData } from './chart-series.ts';

export interface PlotProps extends ChartData {
  format: (value: number) => string;
  kind: 'bars' | 'line' | 'stacked';
  /** Fixed ends of the vertical axis, such as 0 and 100 for percent. */
  range?: [number, number];
}

const HEIGHT = 220;
const BAR_WIDTH = 0.7;
const MOST_BAR_PX = 48;

/** Draws with uPlot: hover shows every series, a drag zooms, a double click resets. Loaded with the first chart. */
export function Plot({ times, series, format, kind, range }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const drawn = kind === 'stacked' ? stackSeries(series) : series;
    const draw = () => {
      const color = colorsOf(element);
      const bars = kind === 'bars' ? uPlot.paths.bars?.({ size: [BAR_WIDTH, MOST_BAR_PX] }) : undefined;
      return new uPlot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
          cursor: { drag: { x: true, y: false } },
          scales: { y: { range: range ?? ((_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1]) } },
          axes: [axis(color), { ...axis(color), size: 72, values: (_plot, ticks) => ticks.map(format) }],
          series: [
            {},
            ...drawn.map(({ name, tone, values }, index) => ({
              label: name,
              stroke: color(`--${tone}`),
              fill: color(`--${tone}`, kind === 'line' ? 0 : 0.5),
              width: 1.5,
              spanGaps: false,
              points: { show: values.filter((value) => value !== null).length < 3 },
              ...(bars && { paths: bars, points: { show: false } }),
              // The legend names the part, not the sum below it.
              value: (_plot: uPlot, _raw: number, _series: number, at: number | null) => {
                const own = at === null ? null : series[index]?.values[at];
                return own === null || own === undefined ? '—' : format(own);
              },
            })),
          ],
        },
        [times, ...drawn.map(({ values }) => values)],
        element,
      );
    };
    let plot = draw();
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    const theme = new MutationObserver(() => {
      plot.destroy();
      plot = draw();
    });
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
      resize.disconnect();
      theme.disconnect();
      plot.destroy();
    };
  }, [times, series, format, kind, range]);
  return <div ref={box} aria-hidden className="min-w-0 overflow-hidden text-xs [&_.u-legend]:text-left" />;
}

function axis(color: (name: string, alpha?: number) => string): uPlot.Axis {
  return {
    stroke: color('--ink-faint'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
    font: '11px "Inter Variable", sans-serif',
  };
}

/** The theme's colours: a canvas knows no CSS variables. */
function colorsOf(element: HTMLElement): (name: string, alpha?: number) => string {
  const style = getComputedStyle(element);
  return (name, alpha = 1) => {
    const value = style.getPropertyValue(name).trim();
    return alpha === 1 ? value : `color-mix(in srgb, ${value} ${alpha * 100}%, transparent)`;
  };
}
