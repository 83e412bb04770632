//! Machines with graphics processors, as files. The layouts are those of public documentation, which each one names; all values are
//! assumed, because none was read from such a machine.

use super::tests::Machine;

/// Two cards of amdgpu. Layout: "GPU Power/Thermal Controls and Monitoring" and "Misc AMDGPU driver information" of the kernel's
/// documentation; `gpu_metrics_v1_3` of its `kgd_pp_interface.h`. The second one has no `power1_average`, no `freq*`, no `unique_id`
/// and no thermometer of its memory.
pub(crate) fn two_amd_cards(name: &str) -> Machine {
    let first = "sys/devices/pci0000:00/0000:03:00.0";
    let second = "sys/devices/pci0000:00/0000:0c:00.0";
    let of = |device: &str, files: &[(&str, &str)]| -> Vec<(String, String)> {
        files.iter().map(|(file, text)| (format!("{device}/{file}"), (*text).into())).collect()
    };
    let mut files = of(
        first,
        &[
            (
                "uevent",
                "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SLOT_NAME=0000:03:00.0\n",
            ),
            ("drm/card0/dev", "226:0\n"),
            ("drm/renderD128/dev", "226:128\n"),
            ("power/runtime_status", "active\n"),
            ("unique_id", "9f8a1c2b3d4e5f60\n"),
            ("gpu_busy_percent", "97\n"),
            ("mem_info_vram_used", "8589934592\n"),
            ("mem_info_vram_total", "25769803776\n"),
            ("pp_dpm_sclk", "0: 500Mhz \n1: 2304Mhz *\n2: 2526Mhz \n"),
            ("hwmon/hwmon4/name", "amdgpu\n"),
            ("hwmon/hwmon4/temp1_input", "54000\n"),
            ("hwmon/hwmon4/temp1_label", "edge\n"),
            ("hwmon/hwmon4/temp2_input", "71000\n"),
            ("hwmon/hwmon4/temp2_label", "junction\n"),
            ("hwmon/hwmon4/temp3_input", "78000\n"),
            ("hwmon/hwmon4/temp3_label", "mem\n"),
            ("hwmon/hwmon4/power1_average", "287000000\n"),
            ("hwmon/hwmon4/power1_label", "PPT\n"),
            ("hwmon/hwmon4/power1_cap", "303000000\n"),
            ("hwmon/hwmon4/power1_cap_max", "348000000\n"),
            ("hwmon/hwmon4/freq1_input", "2304000000\n"),
            ("hwmon/hwmon4/freq1_label", "sclk\n"),
            ("hwmon/hwmon4/freq2_input", "1249000000\n"),
            ("hwmon/hwmon4/freq2_label", "mclk\n"),
            ("hwmon/hwmon4/in0_input", "943\n"),
        ],
    );
    files.extend(of(
        second,
        &[
            ("uevent", "DRIVER=amdgpu\nPCI_ID=1002:738C\nPCI_SLOT_NAME=0000:0c:00.0\n"),
            ("drm/card1/dev", "226:1\n"),
            ("product_name", "Instinct MI100\n"),
            ("gpu_busy_percent", "0\n"),
            ("mem_info_vram_used", "16777216\n"),
            ("mem_info_vram_total", "34359738368\n"),
            ("pp_dpm_sclk", "0: 300Mhz\n1: 1502Mhz *\n"),
            ("hwmon/hwmon5/name", "amdgpu\n"),
            ("hwmon/hwmon5/temp1_input", "41000\n"),
            ("hwmon/hwmon5/temp1_label", "edge\n"),
            ("hwmon/hwmon5/power1_input", "38000000\n"),
        ],
    ));
    files.push(("proc/sys/kernel/hostname".into(), "bench\n".into()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let mut metrics = [0; 120];
    metrics[..4].copy_from_slice(&[120, 0, 1, 3]);
    // PPT0, and the hot spot.
    metrics[112..].copy_from_slice(&(1_u64 | 1 << 36).to_le_bytes());
    Machine::new(name, &files).with_bytes(&format!("{first}/gpu_metrics"), &metrics).linked(&[
        ("sys/class/drm/card0", &format!("{first}/drm/card0")),
        ("sys/class/drm/renderD128", &format!("{first}/drm/renderD128")),
        (&format!("{first}/drm/renderD128/device"), first),
        ("sys/class/drm/renderD129", &format!("{second}/drm/renderD129")),
        (&format!("{second}/drm/renderD129/device"), second),
        ("sys/class/hwmon/hwmon4", &format!("{first}/hwmon/hwmon4")),
        ("sys/class/hwmon/hwmon5", &format!("{second}/hwmon/hwmon5")),
        (&format!("{first}/hwmon/hwmon4/device"), first),
        (&format!("{second}/hwmon/hwmon5/device"), second),
    ])
}

/// A card of xe. Layout: `Documentation/ABI/testing/sysfs-driver-intel-xe-hwmon` and `xe_gt_freq.c`, `xe_gt_throttle.c` of the kernel.
pub(crate) fn arc_card(name: &str) -> Machine {
    let device = "sys/devices/pci0000:00/0000:0a:00.0";
    let part = format!("{device}/tile0/gt0/freq0");
    let files: Vec<(String, &str)> = [
        ("uevent", "DRIVER=xe\nPCI_ID=8086:E20B\nPCI_SLOT_NAME=0000:0a:00.0\n"),
        ("drm/card1/dev", "226:1\n"),
        ("hwmon/hwmon2/name", "xe\n"),
        ("hwmon/hwmon2/energy1_input", "1234567000\n"),
        ("hwmon/hwmon2/energy1_label", "card\n"),
        ("hwmon/hwmon2/energy2_input", "987654000\n"),
        ("hwmon/hwmon2/energy2_label", "pkg\n"),
        ("hwmon/hwmon2/power1_max", "190000000\n"),
        ("hwmon/hwmon2/power1_label", "card\n"),
        ("hwmon/hwmon2/temp2_input", "48000\n"),
        ("hwmon/hwmon2/temp2_label", "pkg\n"),
        ("hwmon/hwmon2/temp3_input", "52000\n"),
        ("hwmon/hwmon2/temp3_label", "vram\n"),
    ]
    .into_iter()
    .map(|(file, text)| (format!("{device}/{file}"), text))
    .chain([
        (format!("{part}/act_freq"), "2850\n"),
        (format!("{part}/max_freq"), "2900\n"),
        (format!("{part}/throttle/status"), "1\n"),
        (format!("{part}/throttle/reason_pl1"), "1\n"),
        (format!("{part}/throttle/reason_pl2"), "0\n"),
        (format!("{part}/throttle/reason_thermal"), "1\n"),
    ])
    .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    Machine::new(name, &files).linked(&[
        ("sys/class/drm/renderD128", &format!("{device}/drm/renderD128")),
        (&format!("{device}/drm/renderD128/device"), device),
        ("sys/class/drm/card1", &format!("{device}/drm/card1")),
        ("sys/class/hwmon/hwmon2", &format!("{device}/hwmon/hwmon2")),
    ])
}

/// A card of i915, and a display of a server board that does not render. Layout: `intel_gt_sysfs_pm.c` and
/// `Documentation/ABI/testing/sysfs-driver-intel-i915-hwmon` of the kernel.
pub(crate) fn i915_card(name: &str) -> Machine {
    let device = "sys/devices/pci0000:00/0000:00:02.0";
    let display = "sys/devices/pci0000:00/0000:02:00.0";
    let files: Vec<(String, &str)> = [
        ("uevent", "DRIVER=i915\nPCI_ID=8086:46A6\nPCI_SLOT_NAME=0000:00:02.0\n"),
        ("drm/card0/gt/gt0/rps_act_freq_mhz", "1100\n"),
        ("drm/card0/gt/gt0/rps_max_freq_mhz", "1400\n"),
        ("drm/card0/gt/gt0/throttle_reason_status", "0\n"),
        ("drm/card0/gt/gt0/throttle_reason_pl1", "0\n"),
    ]
    .into_iter()
    .map(|(file, text)| (format!("{device}/{file}"), text))
    .chain([
        (format!("{display}/uevent"), "DRIVER=ast\nPCI_SLOT_NAME=0000:02:00.0\n"),
        (format!("{display}/drm/card1/dev"), "226:1\n"),
    ])
    .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    Machine::new(name, &files).linked(&[
        ("sys/class/drm/card0", &format!("{device}/drm/card0")),
        ("sys/class/drm/card1", &format!("{display}/drm/card1")),
        ("sys/class/drm/renderD128", &format!("{device}/drm/renderD128")),
        (&format!("{device}/drm/renderD128/device"), device),
    ])
}

/// A Jetson Orin. Layout: NVIDIA's "Jetson Linux Developer Guide" (devfreq of the GPU, its load in thousandths, the rails of the INA3221),
/// and `Documentation/hwmon/ina3221.rst` of the kernel.
pub(crate) fn jetson(name: &str) -> Machine {
    let files = [
        ("var/lib/nvpmodel/status", "pmode:0000 fmode:fan_mode_quiet\n"),
        (
            "etc/nvpmodel.conf",
            "<PARAM TYPE=CLOCK NAME=EMC >\n< POWER_MODEL ID=0 NAME=15W >\nCPU_ONLINE CORE_0 1\n< POWER_MODEL ID=1 NAME=25W >\n< PM_CONFIG DEFAULT=1 >\n",
        ),
        ("sys/devices/platform/17000000.gpu/uevent", "DRIVER=gk20a\nOF_NAME=gpu\n"),
        ("sys/devices/platform/17000000.gpu/load", "412\n"),
        ("sys/class/devfreq/17000000.gpu/cur_freq", "918000000\n"),
        ("sys/class/devfreq/17000000.gpu/max_freq", "1020000000\n"),
        ("sys/class/devfreq/31b0000.emc/cur_freq", "3199000000\n"),
        ("sys/class/thermal/thermal_zone1/type", "gpu-thermal\n"),
        ("sys/class/thermal/thermal_zone1/temp", "51500\n"),
        ("sys/class/hwmon/hwmon1/name", "ina3221\n"),
        ("sys/class/hwmon/hwmon1/in1_label", "VDD_IN\n"),
        ("sys/class/hwmon/hwmon1/in1_input", "5000\n"),
        ("sys/class/hwmon/hwmon1/curr1_input", "3000\n"),
        ("sys/class/hwmon/hwmon1/in2_label", "VDD_CPU_GPU_CV\n"),
        ("sys/class/hwmon/hwmon1/in2_input", "5000\n"),
        ("sys/class/hwmon/hwmon1/curr2_input", "1800\n"),
    ];
    Machine::new(name, &files)
        .linked(&[("sys/class/devfreq/17000000.gpu/device", "sys/devices/platform/17000000.gpu")])
}

/// A board with Mali, which is in DRM and in devfreq. Layout: `Documentation/ABI/testing/sysfs-class-devfreq` of the kernel, and the file
/// `load` of Rockchip's kernel.
pub(crate) fn mali_board(name: &str) -> Machine {
    let device = "sys/devices/platform/fb000000.gpu";
    let files = [
        ("sys/devices/platform/fb000000.gpu/uevent", "DRIVER=panthor\nOF_FULLNAME=/gpu@fb000000\n"),
        ("sys/devices/platform/fb000000.gpu/drm/card0/dev", "226:0\n"),
        ("sys/class/devfreq/fb000000.gpu/cur_freq", "300000000\n"),
        ("sys/class/devfreq/fb000000.gpu/max_freq", "1000000000\n"),
        ("sys/class/devfreq/fb000000.gpu/load", "37@300000000Hz\n"),
    ];
    let node = format!("{device}/drm/renderD128");
    Machine::new(name, &files)
        .linked(&[("sys/class/drm/renderD128", &node), (&format!("{node}/device"), device)])
}

/// The first of two cards of amdgpu in use: by a process with two files of one client, by one with another client, by one that has the
/// node open and uses nothing, and maybe by one of another user. Layout: "DRM client usage stats" of the kernel's documentation.
pub(crate) fn amd_card_in_use(name: &str) -> Machine {
    let text = |client: u32, kib: u64, ns: u64| {
        format!(
            "pos:\t0\nflags:\t02100002\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t{client}\n\
             drm-memory-vram:\t{kib} KiB\ndrm-memory-gtt:\t2048 KiB\ndrm-engine-gfx:\t{ns} ns\n"
        )
    };
    let model = text(41, 6_291_456, 900_000_000);
    let shows = text(42, 524_288, 10_000_000);
    let other = "drm-pdev:\t0000:0c:00.0\ndrm-client-id:\t7\ndrm-memory-vram:\t0 KiB\n";
    let node = "/dev/dri/renderD128";
    two_amd_cards(name)
        .with_process(
            9_000_001,
            &[("3", node, &model), ("9", node, &model), ("1", "/dev/null", "pos:\t0\n")],
        )
        .with_process(
            9_000_002,
            &[("5", "/dev/dri/card0", &shows), ("6", "/dev/dri/renderD129", other)],
        )
        .with_process(9_000_003, &[("4", "/dev/dri/card0", &text(43, 0, 0))])
        .with_bytes("proc/9000004/statm", b"1200 300 100 10 0 200 0\n")
        .with_bytes("proc/2/statm", b"0 0 0 0 0 0 0\n")
}

/// A board with Adreno by Qualcomm's own driver. Layout: `kgsl_pwrctrl.c` of Qualcomm's kernels (`gpubusy`: busy and whole time of the last
/// window) and `Documentation/ABI/testing/sysfs-class-devfreq`.
pub(crate) fn adreno_board(name: &str) -> Machine {
    let device = "sys/devices/platform/soc/3d00000.qcom,kgsl-3d0";
    let file = |file: &str| format!("{device}/{file}");
    Machine::new(
        name,
        &[
            (&file("uevent"), "DRIVER=kgsl-3d\n"),
            (&file("kgsl/kgsl-3d0/gpubusy"), " 250000 1000000\n"),
            ("sys/class/devfreq/3d00000.qcom,kgsl-3d0/cur_freq", "443000000\n"),
            ("sys/class/devfreq/3d00000.qcom,kgsl-3d0/max_freq", "680000000\n"),
        ],
    )
    .linked(&[("sys/class/devfreq/3d00000.qcom,kgsl-3d0/device", device)])
}

/// A card of NVIDIA's driver. Layout: chapter "The /proc filesystem interface" of the driver's README.
pub(crate) fn nvidia_card(name: &str) -> Machine {
    Machine::new(
        name,
        &[
            (
                "proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\nGCC version: 12\n",
            ),
            (
                "proc/driver/nvidia/gpus/0000:01:00.0/information",
                "Model: \t\t NVIDIA GeForce RTX 4090\nIRQ:   \t\t 142\nGPU UUID: \t GPU-????????-????-????-????-????????????\nBus Type: \t PCIe\nDevice Minor: \t 0\n",
            ),
        ],
    )
}

/// A machine with a display that does not render, and a memory controller in devfreq.
pub(crate) fn no_card(name: &str) -> Machine {
    Machine::new(
        name,
        &[
            ("sys/class/drm/version", "drm 1.1.0 20060810\n"),
            ("sys/class/drm/card0/dev", "226:0\n"),
            ("sys/class/devfreq/dmc/cur_freq", "528000000\n"),
        ],
    )
}
