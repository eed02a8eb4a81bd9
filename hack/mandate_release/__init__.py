"""What is released: the manager's image and program, rbacgen, the chart; and a kubelet's work, to test the image."""
