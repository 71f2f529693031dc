package benchmark_test

import (
	"strings"
	"testing"

	"svc.example/internal/work/benchmark"
)

// TestGPUsAreNamedAsPeopleKnowThem takes names as Cycles and the drivers print
// them, CUDA, OptiX, HIP, oneAPI and Metal.
func TestGPUsAreNamedAsPeopleKnowThem(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		// NVIDIA
		"NVIDIA GeForce RTX 5090":                           "nvidia-geforce-rtx-5090",
		"NVIDIA GeForce RTX 4090":                           "nvidia-geforce-rtx-4090",
		"GeForce RTX 4090":                                  "nvidia-geforce-rtx-4090",
		"  nvidia   geforce rtx 4090 ":                      "nvidia-geforce-rtx-4090",
		"NVIDIA GeForce RTX 4090 (Display)":                 "nvidia-geforce-rtx-4090",
		"NVIDIA Corporation GeForce RTX 4090":               "nvidia-geforce-rtx-4090",
		"NVIDIA GeForce RTX 4090 D":                         "nvidia-geforce-rtx-4090-d",
		"NVIDIA GeForce RTX 4090 Laptop GPU":                "nvidia-geforce-rtx-4090-laptop",
		"NVIDIA GeForce RTX 4080 SUPER":                     "nvidia-geforce-rtx-4080-super",
		"NVIDIA GeForce RTX 3080 Ti Laptop GPU":             "nvidia-geforce-rtx-3080-ti-laptop",
		"NVIDIA GeForce RTX 3070 Ti":                        "nvidia-geforce-rtx-3070-ti",
		"NVIDIA GeForce RTX 3050 6GB Laptop GPU":            "nvidia-geforce-rtx-3050-6gb-laptop",
		"NVIDIA GeForce RTX 2080 Super with Max-Q Design":   "nvidia-geforce-rtx-2080-super-max-q",
		"GeForce GTX 1070 with Max-Q Design":                "nvidia-geforce-gtx-1070-max-q",
		"GeForce RTX 2070 (Mobile)":                         "nvidia-geforce-rtx-2070-mobile",
		"GeForce GTX 1060 3GB":                              "nvidia-geforce-gtx-1060-3gb",
		"NVIDIA GeForce GTX 1060 6 GB":                      "nvidia-geforce-gtx-1060-6gb",
		"GeForce GTX 1660 SUPER":                            "nvidia-geforce-gtx-1660-super",
		"GeForce MX150":                                     "nvidia-geforce-mx150",
		"GeForce GTX TITAN X":                               "nvidia-geforce-gtx-titan-x",
		"NVIDIA TITAN X (Pascal)":                           "nvidia-titan-x-pascal",
		"TITAN Xp":                                          "nvidia-titan-xp",
		"NVIDIA TITAN RTX":                                  "nvidia-titan-rtx",
		"TITAN V":                                           "nvidia-titan-v",
		"Quadro RTX 6000":                                   "nvidia-quadro-rtx-6000",
		"Quadro RTX 3000 with Max-Q Design":                 "nvidia-quadro-rtx-3000-max-q",
		"Quadro P5200 with Max-Q Design":                    "nvidia-quadro-p5200-max-q",
		"NVIDIA Quadro GV100":                               "nvidia-quadro-gv100",
		"NVIDIA RTX A6000":                                  "nvidia-rtx-a6000",
		"NVIDIA RTX A2000 12GB":                             "nvidia-rtx-a2000-12gb",
		"NVIDIA RTX A5000 Laptop GPU":                       "nvidia-rtx-a5000-laptop",
		"NVIDIA RTX 6000 Ada Generation":                    "nvidia-rtx-6000-ada",
		"NVIDIA RTX 5000 Ada Generation Laptop GPU":         "nvidia-rtx-5000-ada-laptop",
		"NVIDIA RTX PRO 6000 Blackwell Workstation Edition": "nvidia-rtx-pro-6000-blackwell-workstation-edition",
		"NVIDIA T1000 8GB":                                  "nvidia-t1000-8gb",
		"NVIDIA T400":                                       "nvidia-t400",
		"Tesla T4":                                          "nvidia-tesla-t4",
		"Tesla V100-SXM2-16GB":                              "nvidia-tesla-v100-sxm2-16gb",
		"Tesla V100-PCIE-32GB":                              "nvidia-tesla-v100-pcie-32gb",
		"Tesla P100-PCIE-16GB":                              "nvidia-tesla-p100-pcie-16gb",
		"NVIDIA A100-SXM4-40GB":                             "nvidia-a100-sxm4-40gb",
		"A100-SXM4-40GB":                                    "nvidia-a100-sxm4-40gb",
		"NVIDIA A100-SXM4-80GB":                             "nvidia-a100-sxm4-80gb",
		"NVIDIA A100 80GB PCIe":                             "nvidia-a100-80gb-pcie",
		"NVIDIA H100 80GB HBM3":                             "nvidia-h100-80gb-hbm3",
		"NVIDIA H100 PCIe":                                  "nvidia-h100-pcie",
		"NVIDIA H200":                                       "nvidia-h200",
		"NVIDIA L4":                                         "nvidia-l4",
		"NVIDIA L40S":                                       "nvidia-l40s",
		"NVIDIA A10G":                                       "nvidia-a10g",
		"NVIDIA GH200 480GB":                                "nvidia-gh200-480gb",
		"NVIDIA Graphics Device":                            "nvidia-graphics-device",
		"GRID T4-16Q":                                       "nvidia-grid-t4-16q",
		"NVIDIA GeForce RTX\u2122 3060":                     "nvidia-geforce-rtx-3060",
		// AMD
		"AMD Radeon RX 7900 XTX":                      "amd-radeon-rx-7900-xtx",
		"Radeon RX 7900 XTX":                          "amd-radeon-rx-7900-xtx",
		"AMD AMD Radeon RX 7900 XTX":                  "amd-radeon-rx-7900-xtx",
		"AMD Radeon RX 7900 XT":                       "amd-radeon-rx-7900-xt",
		"AMD Radeon RX 7900 GRE":                      "amd-radeon-rx-7900-gre",
		"AMD Radeon RX 6900 XT":                       "amd-radeon-rx-6900-xt",
		"AMD Radeon RX 6600M":                         "amd-radeon-rx-6600m",
		"AMD Radeon (TM) RX 480 Graphics":             "amd-radeon-rx-480",
		"Radeon RX 580 Series":                        "amd-radeon-rx-580",
		"Radeon (TM) Pro WX 7100 Graphics":            "amd-radeon-pro-wx-7100",
		"AMD Radeon PRO W7900":                        "amd-radeon-pro-w7900",
		"AMD Radeon Pro W6800":                        "amd-radeon-pro-w6800",
		"AMD Radeon Pro 5500M":                        "amd-radeon-pro-5500m",
		"AMD Radeon VII":                              "amd-radeon-vii",
		"AMD Radeon(TM) Graphics":                     "amd-radeon-graphics",
		"AMD Radeon 780M Graphics":                    "amd-radeon-780m",
		"AMD Radeon 780M":                             "amd-radeon-780m",
		"AMD Radeon Vega 8 Graphics":                  "amd-radeon-vega-8",
		"AMD Instinct MI250X":                         "amd-instinct-mi250x",
		"AMD Instinct MI300X":                         "amd-instinct-mi300x",
		"Advanced Micro Devices, Inc. Radeon RX 6800": "amd-radeon-rx-6800",
		// Intel
		"Intel(R) Arc(TM) A770 Graphics":    "intel-arc-a770",
		"Intel Arc A770":                    "intel-arc-a770",
		"Intel(R) Arc(TM) A370M Graphics":   "intel-arc-a370m",
		"Intel(R) Arc(TM) B580 Graphics":    "intel-arc-b580",
		"Intel(R) Arc(TM) Pro A60 Graphics": "intel-arc-pro-a60",
		"Intel(R) Arc(TM) Graphics":         "intel-arc-graphics",
		"Intel(R) Iris(R) Xe Graphics":      "intel-iris-xe-graphics",
		"Intel(R) UHD Graphics 630":         "intel-uhd-graphics-630",
		"Intel(R) Data Center GPU Max 1550": "intel-data-center-gpu-max-1550",
		"Intel(R) Data Center GPU Flex 170": "intel-data-center-gpu-flex-170",
		// Apple
		"Apple M1":                        "apple-m1",
		"Apple M1 (GPU - 7 cores)":        "apple-m1-7-core",
		"Apple M1 (GPU - 8 cores)":        "apple-m1-8-core",
		"Apple M1 Max (GPU - 32 cores)":   "apple-m1-max-32-core",
		"Apple M2 Ultra (GPU - 76 cores)": "apple-m2-ultra-76-core",
		"Apple M3 Pro (GPU - 18 cores)":   "apple-m3-pro-18-core",
		"Apple M4 (GPU - 10 cores)":       "apple-m4-10-core",
		// Unknown names stay as they are.
		"Moore Threads MTT S80": "moore-threads-mtt-s80",
		"!!!":                   "",
	} {
		if got := benchmark.NameOf(printed, nil); got.Slug != want {
			t.Errorf("%q becomes %q (%s), want %q", printed, got.Slug, got.Name, want)
		}
	}
}

// TestModelsOfSeveralMemoriesStayApart reports memory as drivers do, a little
// less than is sold.
func TestModelsOfSeveralMemoriesStayApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		printed string
		mib     int64
		slug    string
		name    string
		vendor  string
	}{
		{"NVIDIA GeForce RTX 3080", 10009, "nvidia-geforce-rtx-3080-10gb", "NVIDIA GeForce RTX 3080 10GB", "NVIDIA"},
		{"NVIDIA GeForce RTX 3080", 12053, "nvidia-geforce-rtx-3080-12gb", "NVIDIA GeForce RTX 3080 12GB", "NVIDIA"},
		{"NVIDIA GeForce RTX 3080 Laptop GPU", 16131, "nvidia-geforce-rtx-3080-laptop-16gb", "NVIDIA GeForce RTX 3080 Laptop 16GB", "NVIDIA"},
		{"NVIDIA GeForce RTX 4060 Ti", 15943, "nvidia-geforce-rtx-4060-ti-16gb", "NVIDIA GeForce RTX 4060 Ti 16GB", "NVIDIA"},
		{"GeForce GTX 1060 6GB", 6078, "nvidia-geforce-gtx-1060-6gb", "NVIDIA GeForce GTX 1060 6GB", "NVIDIA"},
		{"Radeon RX 580 Series", 8176, "amd-radeon-rx-580-8gb", "AMD Radeon RX 580 8GB", "AMD"},
		{"Intel(R) Arc(TM) A770 Graphics", 15473, "intel-arc-a770-16gb", "Intel Arc A770 16GB", "Intel"},
		{"NVIDIA GeForce RTX 4090", 24217, "nvidia-geforce-rtx-4090", "NVIDIA GeForce RTX 4090", "NVIDIA"},
		{"Moore Threads MTT S80", 16000, "moore-threads-mtt-s80", "Moore Threads MTT S80", "unknown"},
	} {
		memory := c.mib << 20
		if got := benchmark.NameOf(c.printed, &memory); got != (benchmark.Name{Slug: c.slug, Name: c.name, Vendor: c.vendor}) {
			t.Errorf("%q with %d MiB becomes %+v, want %s", c.printed, c.mib, got, c.slug)
		}
	}
}

// FuzzNameOf checks that a slug is fit for an address whatever a driver prints.
func FuzzNameOf(f *testing.F) {
	for _, seed := range []string{"NVIDIA GeForce RTX 4090 Laptop GPU", "Apple M1 (GPU - 7 cores)", "AMD AMD amd", "() gpu gpu", "RTX"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, printed string) {
		n := benchmark.NameOf(printed, nil)
		if strings.Trim(n.Slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.HasPrefix(n.Slug, "-") || strings.HasSuffix(n.Slug, "-") {
			t.Errorf("%q becomes %q", printed, n.Slug)
		}
	})
}

// TestNamesThatLookAlikeAreOneGPU takes one name in letters that people cannot
// distinguish.
func TestNamesThatLookAlikeAreOneGPU(t *testing.T) {
	t.Parallel()
	const want = "nvidia-geforce-rtx-4090"
	for _, printed := range []string{
		"NVIDIA GeForce RTX 4090", "ＮＶＩＤＩＡ ＧｅＦｏｒｃｅ ＲＴＸ ４０９０", "NVIDIA\u00a0GeForce\u2003RTX\u30004090", "NVIDIA GeFоrcе RТХ 4090",
		"ΝVΙDΙΑ GeForce RTX 4090", "NVIDIA GeForce\u200b RTX 40\u00ad90", "NVIDIA GeForce RTX 4O9O", "NVI\u0301DIA GeForce RTX 4090", "NVIDIA® GeForce™ RTX 4090", "𝐍𝐕𝐈𝐃𝐈𝐀 GeForce RTX 𝟒𝟎𝟗𝟎",
	} {
		if got := benchmark.NameOf(printed, nil); got.Slug != want || got.Name != "NVIDIA GeForce RTX 4090" {
			t.Errorf("%q is %+v, want %s", printed, got, want)
		}
	}
	for printed, want := range map[string]string{"Quadro P4000": "nvidia-quadro-p4000", "AMD Radeon RX 55O0 XT": "amd-radeon-rx-5500-xt", "NVIDIA TITAN Xp": "nvidia-titan-xp", "NVIDIA GeForce RTX 4090–D": "nvidia-geforce-rtx-4090-d"} {
		if got := benchmark.NameOf(printed, nil).Slug; got != want {
			t.Errorf("%q is %q, want %q", printed, got, want)
		}
	}
}
